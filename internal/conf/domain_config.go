package conf

// DomainConfig is the section [domain_config]: options that domains may set for themselves.
type DomainConfig struct {
	Driver                       string              `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Caching                      bool                `ini:"caching" default:"True" help:"cache domain_config data when the global cache is on"`
	CacheTime                    int                 `ini:"cache_time" default:"300" help:"TTL seconds for cached domain_config data; global TTL when unset"`
	AdditionalWhitelistedOptions map[string][]string `ini:"additional_whitelisted_options" effect:"yes" help:"extra readable per-domain options for out-of-tree drivers"`
	AdditionalSensitiveOptions   map[string][]string `ini:"additional_sensitive_options" effect:"yes" help:"extra secret per-domain options for out-of-tree drivers"`
}
