package conf

// CORS is the section [cors]: cross-origin requests (oslo.middleware).
type CORS struct {
	AllowedOrigin    []string `ini:"allowed_origin" effect:"yes" help:"origins whose pages may call the API, scheme://host[:port]; * is any; unset, none may"`
	AllowCredentials bool     `ini:"allow_credentials" default:"True" effect:"yes" help:"pages may send credentials"`
	ExposeHeaders    []string `ini:"expose_headers" default:"X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,Openstack-Auth-Receipt" effect:"yes" help:"headers of answers that pages may read"`
	MaxAge           int      `ini:"max_age" default:"3600" effect:"yes" help:"seconds for which a browser may remember a preflight; 0 is not said"`
	AllowMethods     []string `ini:"allow_methods" default:"GET,PUT,POST,DELETE,PATCH" effect:"yes" help:"methods that pages may use"`
	AllowHeaders     []string `ini:"allow_headers" default:"X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,X-Project-Id,X-Project-Name,X-Project-Domain-Id,X-Project-Domain-Name,X-Domain-Id,X-Domain-Name,Openstack-Auth-Receipt" effect:"yes" help:"headers that pages may send"`
}
