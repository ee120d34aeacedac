package conf

// Memcache is the section [memcache]: the key-value store of very old releases.
type Memcache struct {
	DeadRetry                int `ini:"dead_retry" gone:"yes" default:"300" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	SocketTimeout            int `ini:"socket_timeout" gone:"yes" default:"3" removal:"since Train" help:"memcached client of the key-value store, which is gone"`
	PoolMaxsize              int `ini:"pool_maxsize" gone:"yes" default:"10" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	PoolUnusedTimeout        int `ini:"pool_unused_timeout" gone:"yes" default:"60" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
	PoolConnectionGetTimeout int `ini:"pool_connection_get_timeout" gone:"yes" default:"10" removal:"since Yoga" help:"memcached client of the key-value store, which is gone"`
}
