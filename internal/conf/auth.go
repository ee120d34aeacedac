package conf

// Auth is the section [auth]: the methods of authentication, in the order that numbers them in tokens, and their plugins.
type Auth struct {
	Methods                      []string `ini:"methods" default:"external,password,token,oauth1,mapped,application_credential,ec2credential" effect:"yes" help:"methods of authentication that are accepted; their order numbers them inside tokens, so a cluster needs the same everywhere"`
	AdditionalPrimaryAuthMethods []string `ini:"additional_primary_auth_methods" default:"" effect:"yes" help:"methods of other makers whose tokens count as gained by proving who one is, and so may be exchanged"`
	Password                     string   `ini:"password" help:"plugin name for the password method; unset means default"`
	Token                        string   `ini:"token" help:"plugin name for the token method; unset means default"`
	External                     string   `ini:"external" help:"plugin name for the external method; unset means default; DefaultDomain or Domain for REMOTE_USER"`
	OAuth1                       string   `ini:"oauth1" help:"plugin name for the oauth1 method; unset means default"`
	Mapped                       string   `ini:"mapped" help:"plugin name for the mapped method; unset means default"`
	ApplicationCredential        string   `ini:"application_credential" help:"plugin name for the application_credential method; unset means default"`
	EC2Credential                string   `ini:"ec2credential" help:"plugin name for the marker method of tokens gained from a signature; unset means default"`

	// Plugins are the names given to methods beyond those above.
	Plugins map[string]string
}
