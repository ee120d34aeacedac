package conf

// TokenlessAuth is the section [tokenless_auth]: authentication by client certificate.
type TokenlessAuth struct {
	TrustedIssuer   []string `ini:"trusted_issuer" kind:"multi" default:"" help:"client-certificate issuer DNs allowed without a token (repeatable)"`
	Protocol        string   `ini:"protocol" default:"x509" help:"protocol id used to map client certificates"`
	IssuerAttribute string   `ini:"issuer_attribute" default:"SSL_CLIENT_I_DN" help:"request variable carrying the issuer DN"`
}
