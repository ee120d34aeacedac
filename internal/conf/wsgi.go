package conf

// WSGI is the section [wsgi]; the tags hold each option's meaning.
type WSGI struct {
	DebugMiddleware bool `ini:"debug_middleware" default:"False" help:"dump requests and responses"`
}
