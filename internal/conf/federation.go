package conf

// Federation is the section [federation]: what holds for all identity providers.
type Federation struct {
	Driver                               string   `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	AssertionPrefix                      string   `ini:"assertion_prefix" default:"" help:"only request variables with this prefix reach the mapping engine"`
	RemoteIDAttribute                    string   `ini:"remote_id_attribute" help:"request variable that names the identity provider; per protocol column or [<protocol>] section wins"`
	FederatedDomainName                  string   `ini:"federated_domain_name" default:"Federated" removal:"since T" effect:"yes" help:"reserved domain name that cannot be created"`
	TrustedDashboard                     []string `ini:"trusted_dashboard" kind:"multi" default:"" help:"allowed websso origins (repeatable)"`
	SSOCallbackTemplate                  string   `ini:"sso_callback_template" default:"/etc/keystone/sso_callback_template.html" help:"HTML file with $host and $token filled in for websso"`
	Caching                              bool     `ini:"caching" default:"True" help:"cache federation data when the global cache is on"`
	DefaultAuthorizationTTL              int      `ini:"default_authorization_ttl" default:"0" effect:"yes" help:"minutes mapped group membership outlives a federated login; 0 off; per IdP override"`
	AttributeMappingDefaultSchemaVersion string   `ini:"attribute_mapping_default_schema_version" default:"1.0" help:"mapping schema used when a mapping names none (1.0, 2.0, 3.0)"`
}
