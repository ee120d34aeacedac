package conf

// OsloMiddleware is the section [oslo_middleware]: body size and proxy headers.
type OsloMiddleware struct {
	MaxRequestBodySize        int    `ini:"max_request_body_size" default:"114688" was:"DEFAULT/osapi_max_request_body_size,DEFAULT/max_request_body_size" effect:"yes" help:"longest body in bytes; beyond it the answer is 413"`
	SecureProxySSLHeader      string `ini:"secure_proxy_ssl_header" gone:"yes" default:"X-Forwarded-Proto" removal:"yes" help:"old way to learn https behind a proxy; deprecated"`
	EnableProxyHeadersParsing bool   `ini:"enable_proxy_headers_parsing" default:"False" effect:"yes" help:"believe X-Forwarded-Proto and its kin when links are made; the client address has a section of its own"`
	HTTPBasicAuthUserFile     string `ini:"http_basic_auth_user_file" default:"/etc/htpasswd" help:"not in keystone pipeline"`
}
