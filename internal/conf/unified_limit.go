package conf

// UnifiedLimit is the section [unified_limit]: the enforcement model of limits.
type UnifiedLimit struct {
	Driver           string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Caching          bool   `ini:"caching" default:"True" help:"cache unified_limit data when the global cache is on"`
	CacheTime        *int   `ini:"cache_time" help:"TTL seconds for cached unified_limit data; global TTL when unset"`
	ListLimit        *int   `ini:"list_limit" help:"default page size for unified_limit collections, over the global one; Keystone has never heeded it"`
	EnforcementModel string `ini:"enforcement_model" default:"flat" choices:"flat,strict_two_level" effect:"yes" help:"flat or strict_two_level"`
}
