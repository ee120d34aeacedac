package conf

// Cache is the section [cache]: the cache of Python Keystone (oslo.cache).
type Cache struct {
	ConfigPrefix                     string   `ini:"config_prefix" default:"cache.oslo" help:"dogpile naming"`
	ExpirationTime                   int      `ini:"expiration_time" default:"600" min:"1" effect:"yes" help:"seconds for which Python Keystone remembers"`
	BackendExpirationTime            *int     `ini:"backend_expiration_time" min:"1" help:"seconds after which the cache server forgets by itself"`
	Backend                          string   `ini:"backend" default:"dogpile.cache.null" choices:"oslo_cache.memcache_pool,oslo_cache.dict,oslo_cache.etcd3gw,dogpile.cache.pymemcache,dogpile.cache.memcached,dogpile.cache.pylibmc,dogpile.cache.bmemcached,dogpile.cache.dbm,dogpile.cache.redis,dogpile.cache.redis_sentinel,dogpile.cache.memory,dogpile.cache.memory_pickle,dogpile.cache.null" effect:"yes" help:"where Python Keystone keeps what it has read; this server keeps nothing there, and deletes what its writes make out of date from a memcached"`
	BackendArgument                  []string `ini:"backend_argument" kind:"multi" default:"" secret:"yes" effect:"yes" help:"cache client tuning: backend argument"`
	Proxies                          []string `ini:"proxies" default:"" help:"cache client tuning: proxies"`
	Enabled                          bool     `ini:"enabled" default:"True" effect:"yes" help:"global cache switch (keystone default true)"`
	DebugCacheBackend                bool     `ini:"debug_cache_backend" default:"False" help:"cache client tuning: debug cache backend"`
	MemcacheServers                  []string `ini:"memcache_servers" default:"localhost:11211" effect:"yes" help:"the memcached servers of Python Keystone"`
	MemcacheDeadRetry                int      `ini:"memcache_dead_retry" default:"300" help:"cache client tuning: memcache dead retry"`
	SocketTimeout                    float64  `ini:"socket_timeout" default:"1.0" was:"cache/memcache_socket_timeout,cache/redis_socket_timeout" effect:"yes" help:"cache client tuning: socket timeout"`
	MemcachePoolMaxsize              int      `ini:"memcache_pool_maxsize" default:"10" help:"cache client tuning: memcache pool maxsize"`
	MemcachePoolUnusedTimeout        int      `ini:"memcache_pool_unused_timeout" default:"60" help:"cache client tuning: memcache pool unused timeout"`
	MemcachePoolConnectionGetTimeout int      `ini:"memcache_pool_connection_get_timeout" default:"10" help:"cache client tuning: memcache pool connection get timeout"`
	MemcachePoolFlushOnReconnect     bool     `ini:"memcache_pool_flush_on_reconnect" default:"False" help:"cache client tuning: memcache pool flush on reconnect"`
	MemcacheSASLEnabled              bool     `ini:"memcache_sasl_enabled" default:"False" effect:"yes" help:"cache client tuning: memcache sasl enabled"`
	Username                         string   `ini:"username" was:"cache/memcache_username,cache/redis_username" effect:"yes" help:"user name at the cache server"`
	Password                         string   `ini:"password" was:"cache/memcache_password,cache/redis_password" secret:"yes" effect:"yes" help:"password at the cache server"`
	RedisServer                      string   `ini:"redis_server" default:"localhost:6379" help:"Redis server"`
	RedisDB                          int      `ini:"redis_db" default:"0" min:"0" help:"number of the Redis database"`
	RedisSentinels                   []string `ini:"redis_sentinels" default:"localhost:26379" help:"Redis sentinels"`
	RedisSentinelServiceName         string   `ini:"redis_sentinel_service_name" default:"mymaster" help:"what the sentinels call the Redis service"`
	TLSEnabled                       bool     `ini:"tls_enabled" default:"False" effect:"yes" help:"cache client tuning: tls enabled"`
	TLSCafile                        string   `ini:"tls_cafile" effect:"yes" help:"cache client tuning: tls cafile"`
	TLSCertfile                      string   `ini:"tls_certfile" effect:"yes" help:"cache client tuning: tls certfile"`
	TLSKeyfile                       string   `ini:"tls_keyfile" effect:"yes" help:"cache client tuning: tls keyfile"`
	TLSAllowedCiphers                string   `ini:"tls_allowed_ciphers" help:"cache client tuning: tls allowed ciphers"`
	EnableSocketKeepalive            bool     `ini:"enable_socket_keepalive" default:"False" help:"cache client tuning: enable socket keepalive"`
	SocketKeepaliveIdle              int      `ini:"socket_keepalive_idle" default:"1" min:"0" help:"cache client tuning: socket keepalive idle"`
	SocketKeepaliveInterval          int      `ini:"socket_keepalive_interval" default:"1" min:"0" help:"cache client tuning: socket keepalive interval"`
	SocketKeepaliveCount             int      `ini:"socket_keepalive_count" default:"1" min:"0" help:"cache client tuning: socket keepalive count"`
	EnableRetryClient                bool     `ini:"enable_retry_client" default:"False" help:"cache client tuning: enable retry client"`
	RetryAttempts                    int      `ini:"retry_attempts" default:"2" min:"1" help:"cache client tuning: retry attempts"`
	RetryDelay                       float64  `ini:"retry_delay" default:"0" help:"cache client tuning: retry delay"`
	HashclientRetryAttempts          int      `ini:"hashclient_retry_attempts" default:"2" min:"1" help:"cache client tuning: hashclient retry attempts"`
	HashclientRetryTimeout           float64  `ini:"hashclient_retry_timeout" default:"1" was:"cache/hashclient_retry_delay" help:"cache client tuning: hashclient retry timeout"`
	HashclientDeadTimeout            float64  `ini:"hashclient_dead_timeout" default:"60" was:"cache/dead_timeout" help:"cache client tuning: hashclient dead timeout"`
}
