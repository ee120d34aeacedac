package conf

// EndpointFilter is the section [endpoint_filter]: what the catalog of a project without filters holds.
type EndpointFilter struct {
	Driver                       string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	ReturnAllEndpointsIfNoFilter bool   `ini:"return_all_endpoints_if_no_filter" default:"True" effect:"yes" help:"a project without endpoint filters sees the whole catalog; off, it sees none of it"`
}
