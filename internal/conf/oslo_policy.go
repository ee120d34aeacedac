package conf

// OsloPolicy is the section [oslo_policy]: the files that override the default rules.
type OsloPolicy struct {
	EnforceNewDefaults       bool     `ini:"enforce_new_defaults" default:"True" effect:"yes" help:"leave the deprecated default rules out"`
	EnforceScope             bool     `ini:"enforce_scope" gone:"yes" default:"True" effect:"default" help:"refuse tokens of a scope that a rule is not for; newer releases of Python Keystone always do"`
	PolicyFile               string   `ini:"policy_file" default:"policy.yaml" effect:"yes" help:"file of overriding rules, YAML or JSON, looked for beside the configuration"`
	PolicyDefaultRule        string   `ini:"policy_default_rule" default:"default" effect:"yes" help:"rule that is asked where a name is unknown"`
	PolicyDirs               []string `ini:"policy_dirs" kind:"multi" default:"policy.d" effect:"yes" help:"folder of further files of rules"`
	RemoteContentType        string   `ini:"remote_content_type" default:"application/x-www-form-urlencoded" choices:"application/x-www-form-urlencoded,application/json" effect:"yes" help:"how a rule that asks a URL sends its question"`
	RemoteSSLVerifyServerCrt bool     `ini:"remote_ssl_verify_server_crt" default:"False" effect:"yes" help:"check the certificate of that URL"`
	RemoteSSLCACrtFile       string   `ini:"remote_ssl_ca_crt_file" effect:"yes" help:"authorities that may have signed it"`
	RemoteSSLClientCrtFile   string   `ini:"remote_ssl_client_crt_file" effect:"yes" help:"certificate to show to it"`
	RemoteSSLClientKeyFile   string   `ini:"remote_ssl_client_key_file" effect:"yes" help:"key of that certificate"`
	RemoteTimeout            float64  `ini:"remote_timeout" default:"60" min:"0" effect:"yes" help:"seconds to wait for its answer"`
}
