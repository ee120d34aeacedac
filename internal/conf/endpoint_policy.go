package conf

// EndpointPolicy is the section [endpoint_policy]: policies tied to endpoints.
type EndpointPolicy struct {
	Driver string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
