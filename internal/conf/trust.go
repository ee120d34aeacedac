package conf

// Trust is the section [trust]: how far trusts may be passed on.
type Trust struct {
	AllowRedelegation    bool   `ini:"allow_redelegation" default:"False" help:"whether trusts may be chained"`
	MaxRedelegationCount int    `ini:"max_redelegation_count" default:"3" help:"longest trust chain"`
	Driver               string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
