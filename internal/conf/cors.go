package conf

// CORS is the section [cors]: cross-origin requests (oslo.middleware).
type CORS struct {
	AllowedOrigin    []string `ini:"allowed_origin" help:"origins allowed; unset means no CORS"`
	AllowCredentials bool     `ini:"allow_credentials" default:"True" help:"credentials allowed"`
	ExposeHeaders    []string `ini:"expose_headers" default:"X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,Openstack-Auth-Receipt" help:"headers exposed"`
	MaxAge           int      `ini:"max_age" default:"3600" help:"preflight cache"`
	AllowMethods     []string `ini:"allow_methods" default:"GET,PUT,POST,DELETE,PATCH" help:"methods allowed"`
	AllowHeaders     []string `ini:"allow_headers" default:"X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,X-Project-Id,X-Project-Name,X-Project-Domain-Id,X-Project-Domain-Name,X-Domain-Id,X-Domain-Name,Openstack-Auth-Receipt" help:"request headers allowed"`
}
