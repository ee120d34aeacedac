package conf

// ApplicationCredential is the section [application_credential]: how many application credentials a user may have.
type ApplicationCredential struct {
	Driver    string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Caching   bool   `ini:"caching" default:"True" help:"cache application_credential data when the global cache is on"`
	CacheTime *int   `ini:"cache_time" help:"TTL seconds for cached application_credential data; global TTL when unset"`
	UserLimit int    `ini:"user_limit" default:"-1" help:"most application credentials per user; -1 none"`
}
