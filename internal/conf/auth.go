package conf

// Auth is the section [auth]: the methods of authentication, in the order that numbers them in tokens, and their plugins.
type Auth struct {
	Methods               []string `ini:"methods" default:"external,password,token,oauth1,mapped,application_credential" effect:"yes" help:"methods of authentication that are accepted; their order numbers them inside tokens, so a cluster needs the same everywhere"`
	Password              string   `ini:"password" help:"plugin name for the password method; unset means default"`
	Token                 string   `ini:"token" help:"plugin name for the token method; unset means default"`
	External              string   `ini:"external" help:"plugin name for the external method; unset means default; DefaultDomain or Domain for REMOTE_USER"`
	OAuth1                string   `ini:"oauth1" help:"plugin name for the oauth1 method; unset means default"`
	Mapped                string   `ini:"mapped" help:"plugin name for the mapped method; unset means default"`
	ApplicationCredential string   `ini:"application_credential" help:"plugin name for the application_credential method; unset means default"`

	// Plugins are the names given to methods beyond the six above.
	Plugins map[string]string
}
