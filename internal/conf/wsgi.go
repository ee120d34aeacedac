package conf

// WSGI is the section [wsgi]: debugging aids of Python Keystone.
type WSGI struct {
	DebugMiddleware bool `ini:"debug_middleware" default:"False" help:"dump requests and responses"`
}
