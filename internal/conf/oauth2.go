package conf

// OAuth2 is the section [oauth2]: how OAuth2 clients prove themselves.
type OAuth2 struct {
	OAuth2AuthnMethods    []string `ini:"oauth2_authn_methods" default:"tls_client_auth,client_secret_basic" help:"client authentication ways allowed at OS-OAUTH2/token"`
	OAuth2CertDNMappingID string   `ini:"oauth2_cert_dn_mapping_id" default:"oauth2_mapping" help:"mapping used to match client certificate DN"`
}
