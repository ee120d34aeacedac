package conf

// Revoke is the section [revoke]: how long revocation events are kept.
type Revoke struct {
	Driver           string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	ExpirationBuffer int    `ini:"expiration_buffer" default:"1800" min:"0" effect:"yes" help:"seconds that a revocation event is kept beyond the life of the tokens it revokes"`
	Caching          bool   `ini:"caching" default:"True" help:"cache revoke data when the global cache is on"`
	CacheTime        int    `ini:"cache_time" default:"3600" was:"token/revocation_cache_time" help:"TTL seconds for cached revoke data; global TTL when unset"`
}
