package conf

// SAML is the section [saml]: this cloud as a SAML identity provider.
type SAML struct {
	AssertionExpirationTime    int    `ini:"assertion_expiration_time" default:"3600" help:"seconds issued SAML assertions stay valid"`
	Xmlsec1Binary              string `ini:"xmlsec1_binary" default:"xmlsec1" help:"external signer; a Go server signs in process"`
	Certfile                   string `ini:"certfile" default:"/etc/keystone/ssl/certs/signing_cert.pem" help:"certificate that goes with the SAML signing key"`
	Keyfile                    string `ini:"keyfile" default:"/etc/keystone/ssl/private/signing_key.pem" help:"SAML signing key"`
	IDPEntityID                string `ini:"idp_entity_id" kind:"uri" maxlength:"1024" help:"entity id of this keystone as identity provider"`
	IDPSSOEndpoint             string `ini:"idp_sso_endpoint" kind:"uri" help:"SSO URL in the metadata"`
	IDPLang                    string `ini:"idp_lang" default:"en" help:"metadata language"`
	IDPOrganizationName        string `ini:"idp_organization_name" default:"SAML Identity Provider" help:"metadata organisation name"`
	IDPOrganizationDisplayName string `ini:"idp_organization_display_name" default:"OpenStack SAML Identity Provider" help:"metadata display name"`
	IDPOrganizationURL         string `ini:"idp_organization_url" kind:"uri" default:"https://example.com/" help:"metadata organisation URL"`
	IDPContactCompany          string `ini:"idp_contact_company" default:"Example, Inc." help:"metadata contact company"`
	IDPContactName             string `ini:"idp_contact_name" default:"SAML Identity Provider Support" help:"metadata contact given name"`
	IDPContactSurname          string `ini:"idp_contact_surname" default:"Support" help:"metadata contact surname"`
	IDPContactEmail            string `ini:"idp_contact_email" default:"support@example.com" help:"metadata contact mail"`
	IDPContactTelephone        string `ini:"idp_contact_telephone" default:"+1 800 555 0100" help:"metadata contact phone"`
	IDPContactType             string `ini:"idp_contact_type" default:"other" choices:"technical,support,administrative,billing,other" help:"metadata contact kind"`
	IDPMetadataPath            string `ini:"idp_metadata_path" default:"/etc/keystone/saml2_idp_metadata.xml" help:"file served at OS-FEDERATION/saml2/metadata"`
	RelayStatePrefix           string `ini:"relay_state_prefix" default:"ss:mem:" help:"default RelayState prefix of new service providers and ECP"`
}
