package conf

// OsloMiddleware is the section [oslo_middleware]; the tags hold each option's meaning.
type OsloMiddleware struct {
	MaxRequestBodySize        int    `ini:"max_request_body_size" default:"114688" was:"DEFAULT/osapi_max_request_body_size,DEFAULT/max_request_body_size" effect:"yes" help:"413 above this many bytes"`
	SecureProxySSLHeader      string `ini:"secure_proxy_ssl_header" default:"X-Forwarded-Proto" removal:"yes" help:"old way to learn https behind a proxy; deprecated"`
	EnableProxyHeadersParsing bool   `ini:"enable_proxy_headers_parsing" default:"False" effect:"yes" help:"trust X-Forwarded-* / Forwarded"`
	HTTPBasicAuthUserFile     string `ini:"http_basic_auth_user_file" default:"/etc/htpasswd" help:"not in keystone pipeline"`
}
