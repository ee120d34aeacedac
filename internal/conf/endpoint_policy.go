package conf

// EndpointPolicy is the section [endpoint_policy]; the tags hold each option's meaning.
type EndpointPolicy struct {
	Driver string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
