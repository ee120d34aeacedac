package conf

// Trust is the section [trust]; the tags hold each option's meaning.
type Trust struct {
	AllowRedelegation    bool   `ini:"allow_redelegation" default:"False" help:"whether trusts may be chained"`
	MaxRedelegationCount int    `ini:"max_redelegation_count" default:"3" help:"longest trust chain"`
	Driver               string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
