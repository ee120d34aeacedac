// Package conf reads keystone.conf, in the dialect of oslo.config, into typed
// sections: one struct a section, one field an option, the tags of a field
// carrying its name, default, bounds, choices and older names.
package conf

// Config is everything that the files and the environment say.
type Config struct {
	Default                    DefaultSection             `ini:"DEFAULT"`
	API                        API                        `ini:"api"`
	ApplicationCredential      ApplicationCredential      `ini:"application_credential"`
	Assignment                 Assignment                 `ini:"assignment"`
	Auth                       Auth                       `ini:"auth"`
	Catalog                    Catalog                    `ini:"catalog"`
	Credential                 Credential                 `ini:"credential"`
	DomainConfig               DomainConfig               `ini:"domain_config"`
	EndpointFilter             EndpointFilter             `ini:"endpoint_filter"`
	EndpointPolicy             EndpointPolicy             `ini:"endpoint_policy"`
	Federation                 Federation                 `ini:"federation"`
	FernetReceipts             FernetReceipts             `ini:"fernet_receipts"`
	FernetTokens               FernetTokens               `ini:"fernet_tokens"`
	Identity                   Identity                   `ini:"identity"`
	IdentityMapping            IdentityMapping            `ini:"identity_mapping"`
	JWTTokens                  JWTTokens                  `ini:"jwt_tokens"`
	LDAP                       LDAP                       `ini:"ldap"`
	OAuth1                     OAuth1                     `ini:"oauth1"`
	OAuth2                     OAuth2                     `ini:"oauth2"`
	Policy                     Policy                     `ini:"policy"`
	Receipt                    Receipt                    `ini:"receipt"`
	Resource                   Resource                   `ini:"resource"`
	Revoke                     Revoke                     `ini:"revoke"`
	Role                       Role                       `ini:"role"`
	SAML                       SAML                       `ini:"saml"`
	SecurityCompliance         SecurityCompliance         `ini:"security_compliance"`
	ShadowUsers                ShadowUsers                `ini:"shadow_users"`
	Token                      Token                      `ini:"token"`
	TokenlessAuth              TokenlessAuth              `ini:"tokenless_auth"`
	TOTP                       TOTP                       `ini:"totp"`
	Trust                      Trust                      `ini:"trust"`
	UnifiedLimit               UnifiedLimit               `ini:"unified_limit"`
	WSGI                       WSGI                       `ini:"wsgi"`
	Cache                      Cache                      `ini:"cache"`
	EventletServer             EventletServer             `ini:"eventlet_server"`
	Memcache                   Memcache                   `ini:"memcache"`
	Database                   Database                   `ini:"database"`
	OsloConcurrency            OsloConcurrency            `ini:"oslo_concurrency"`
	OsloMessagingAMQP          OsloMessagingAMQP          `ini:"oslo_messaging_amqp"`
	OsloMessagingKafka         OsloMessagingKafka         `ini:"oslo_messaging_kafka"`
	OsloMessagingMetrics       OsloMessagingMetrics       `ini:"oslo_messaging_metrics"`
	OsloMessagingNotifications OsloMessagingNotifications `ini:"oslo_messaging_notifications"`
	OsloMessagingRabbit        OsloMessagingRabbit        `ini:"oslo_messaging_rabbit"`
	OsloMessagingTracing       OsloMessagingTracing       `ini:"oslo_messaging_tracing"`
	CORS                       CORS                       `ini:"cors"`
	Healthcheck                Healthcheck                `ini:"healthcheck"`
	OsloMiddleware             OsloMiddleware             `ini:"oslo_middleware"`
	OsloMiddlewareTracing      OsloMiddlewareTracing      `ini:"oslo_middleware_tracing"`
	OsloPolicy                 OsloPolicy                 `ini:"oslo_policy"`
	Profiler                   Profiler                   `ini:"profiler"`
	ProfilerJaeger             ProfilerJaeger             `ini:"profiler_jaeger"`
	ProfilerOTLP               ProfilerOTLP               `ini:"profiler_otlp"`

	KeystoneGo              KeystoneGo              `ini:"keystone_go"`
	RateLimit               RateLimit               `ini:"rate_limit"`
	RateLimitGlobalIP       RateLimitGlobalIP       `ini:"rate_limit_global_ip"`
	RateLimitUserAuth       RateLimitUserAuth       `ini:"rate_limit_user_auth"`
	RateLimitTrustedProxies RateLimitTrustedProxies `ini:"rate_limit_trusted_proxies"`
	RateLimitTrustedPair    RateLimitTrustedPair    `ini:"rate_limit_trusted_pair"`
	RateLimitDecoy          RateLimitDecoy          `ini:"rate_limit_decoy"`
	RateLimitFailedLogin    RateLimitFailedLogin    `ini:"rate_limit_failed_login"`
	RateLimitSpray          RateLimitSpray          `ini:"rate_limit_spray"`
	RateLimitDefault        RateLimitDefault        `ini:"rate_limit_default"`
	RateLimitSignedIn       RateLimitSignedIn       `ini:"rate_limit_signed_in"`
	// RateLimitRoutes are the sections [rate_limit_route:NAME], in the order
	// of their first appearance.
	RateLimitRoutes []RateLimitRoute

	// Protocols holds the sections named after a federation protocol, by name.
	Protocols map[string]Protocol
	// Files are the files that were read, in the order of their precedence,
	// the weakest first.
	Files []string
	// Dirs are the folders in which a relative helper file (policy_file) is
	// looked for, in this order.
	Dirs []string
	// Unknown are the options that no section has; they change nothing.
	Unknown []Unknown
	// WithoutEffect are the options that were set and are understood, but
	// change nothing in this server.
	WithoutEffect []Setting
	// NotServed are the options of WithoutEffect whose default alone is served:
	// another driver than sql, for one. What they ask for is missing here.
	NotServed []Setting
	// Deprecated are the options that were read under an older name, or that
	// Python Keystone is about to drop.
	Deprecated []Setting

	settings, dynamic []Setting
}

// Protocol is a section named after a federation protocol, such as [openid].
type Protocol struct {
	// RemoteIDAttribute is the request variable that names the identity
	// provider.
	RemoteIDAttribute string
}

// Default returns the configuration of an empty file.
func Default() *Config {
	c, err := Load(Sources{})
	if err != nil {
		panic("conf: a default in a struct tag is wrong: " + err.Error())
	}
	return c
}
