package conf

// Memcache is the section [memcache]: the key-value store of very old releases.
type Memcache struct {
	DeadRetry                int `ini:"dead_retry" default:"300" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	SocketTimeout            int `ini:"socket_timeout" default:"3" removal:"since Train" help:"memcached client of the key-value store, which is gone"`
	PoolMaxsize              int `ini:"pool_maxsize" default:"10" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	PoolUnusedTimeout        int `ini:"pool_unused_timeout" default:"60" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	PoolConnectionGetTimeout int `ini:"pool_connection_get_timeout" default:"10" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
}
