package conf

// EndpointFilter is the section [endpoint_filter]: what the catalog of a project without filters holds.
type EndpointFilter struct {
	Driver                       string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	ReturnAllEndpointsIfNoFilter bool   `ini:"return_all_endpoints_if_no_filter" default:"True" help:"whole catalog when a project has no filter; else empty catalog"`
}
