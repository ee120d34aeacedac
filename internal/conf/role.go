package conf

// Role is the section [role]: how long lists of roles get.
type Role struct {
	Driver    string `ini:"driver" effect:"default" help:"role backend; unset means the assignment backend default (sql)"`
	Caching   bool   `ini:"caching" default:"True" help:"cache role data when the global cache is on"`
	CacheTime *int   `ini:"cache_time" help:"TTL seconds for cached role data; global TTL when unset"`
	ListLimit *int   `ini:"list_limit" effect:"yes" help:"default page size for role collections, over the global one"`
}
