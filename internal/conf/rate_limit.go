package conf

// RateLimit is the section [rate_limit]: what all limits share.
type RateLimit struct {
	Mode              string   `ini:"mode" default:"enforce" choices:"enforce,shadow,off" effect:"yes" help:"what a refusal does: enforce refuses; shadow counts what would be refused and refuses nothing, whatever the limits' own sections say; off builds no limit at all"`
	Store             string   `ini:"store" default:"memory" choices:"memory,redis,sql" effect:"yes" help:"where the counters live: memory is this process, redis and sql are shared by all instances"`
	RedisURL          string   `ini:"redis_url" default:"" secret:"yes" effect:"yes" help:"where Redis is: redis://user:password@host:6379/0, rediss:// with TLS, several hosts comma-separated for Sentinel and Cluster"`
	RedisURLFile      string   `ini:"redis_url_file" default:"" effect:"yes" help:"file whose first line is the redis_url, so that the password stands in no configuration"`
	RedisTLSCAFile    string   `ini:"redis_tls_ca_file" default:"" effect:"yes" help:"certificates, in PEM form, that the certificate of Redis is verified by; empty means those of the system"`
	RedisTLSCertFile  string   `ini:"redis_tls_cert_file" default:"" effect:"yes" help:"certificate to show to Redis, in PEM form"`
	RedisTLSKeyFile   string   `ini:"redis_tls_key_file" default:"" effect:"yes" help:"private key of that certificate, in PEM form"`
	RedisSentinel     string   `ini:"redis_sentinel_master" default:"" effect:"yes" help:"name under which Sentinel knows the master; the hosts of redis_url are Sentinels then"`
	RedisCluster      bool     `ini:"redis_cluster" default:"false" effect:"yes" help:"the hosts of redis_url are nodes of one Redis Cluster"`
	KeySecret         string   `ini:"key_secret" default:"" secret:"yes" effect:"yes" help:"text of at least 16 characters, the same on all instances and known to nobody else: a shared store holds addresses and ids as hashes by it. Unset, the passwords for Redis and for the database take its place, which have to be the same on all instances then"`
	Instances         *int     `ini:"instances" kind:"digits" min:"1" max:"10000" sample:"1" effect:"yes" help:"how many servers of this cloud run; what each lets through alone while the shared store is away is the limit divided by this. With store = memory each lets the whole limit through"`
	OnStoreFailure    string   `ini:"on_store_failure" default:"local" choices:"local,open,closed" effect:"yes" help:"while the shared store is away: local counts in this process, open limits nothing, closed answers 503"`
	Headers           string   `ini:"headers" default:"principal" choices:"off,principal,all" effect:"yes" help:"RateLimit headers on answers that are not 429: principal tells callers of their own quota, all tells of address quotas too, which shows a caller what his neighbours behind one address do"`
	LegacyHeaders     bool     `ini:"legacy_headers" default:"false" effect:"yes" help:"send X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset as well"`
	Front             string   `ini:"front" default:"" choices:",external" effect:"yes" help:"what limits before this server: external means that a gateway in front limits requests: [rate_limit_default] and the routes' sections do nothing then"`
	ExemptNetworks    []string `ini:"exempt_networks" kind:"prefixes" default:"" effect:"yes" help:"networks whose clients no limit by address counts, comma-separated CIDRs; limits by user hold for them. A client behind a proxy counts only where the proxy's header names him"`
	ExemptRoles       []string `ini:"exempt_roles" default:"service" effect:"yes" help:"roles whose holders no limit by principal refuses; what they use beyond it is counted and logged"`
	ExemptUsers       []string `ini:"exempt_users" default:"" effect:"yes" help:"ids of users whom no limit by principal refuses"`
	ExemptDomains     []string `ini:"exempt_domains" default:"" effect:"yes" help:"ids of domains whose users no limit by principal refuses"`
	BlockNetworks     []string `ini:"block_networks" kind:"prefixes" default:"" effect:"yes" help:"networks whose clients are answered 429 always, comma-separated CIDRs"`
	DecisionLog       bool     `ini:"decision_log" default:"true" effect:"yes" help:"log the first refusal of a caller, and then one line a minute with a count"`
	LogClearAddresses bool     `ini:"log_clear_addresses" default:"false" effect:"yes" help:"show addresses and user ids in that log, in the admin API and on the operator page as they are; off, they are hashed"`
}

// LimiterStore is what every limiter's section has.
type LimiterStore struct {
	MaxEntries     int    `ini:"max_entries" kind:"digits" default:"10000" min:"1000" max:"10000000" effect:"yes" help:"keys remembered; beyond it refilled ones go first, then as overflow says"`
	Algorithm      string `ini:"algorithm" default:"gcra" choices:"gcra,sliding_window" effect:"yes" help:"how the quota is held: gcra refills steadily, so that after a burst the rate holds; sliding_window never admits more than the burst in any one period"`
	Overflow       string `ini:"overflow" default:"" choices:",evict,shared,deny" effect:"yes" help:"what a new key gets while all max_entries owe something: evict takes the place of the least recently seen, shared puts new keys into one bucket, deny refuses them; empty means evict for addresses and shared for users"`
	OnStoreFailure string `ini:"on_store_failure" default:"" choices:",local,open,closed" effect:"yes" help:"as in [rate_limit], for this limiter; empty means what stands there"`
}

// AddressKeys is what the section of a limiter by address has besides.
type AddressKeys struct {
	IPv6Prefix int `ini:"ipv6_prefix" kind:"digits" default:"64" min:"32" max:"128" effect:"yes" help:"length of the IPv6 prefix that shares a bucket"`
	IPv4Prefix int `ini:"ipv4_prefix" kind:"digits" default:"32" min:"24" max:"32" effect:"yes" help:"length of the IPv4 prefix that shares a bucket"`
}

// NoAddressKeys are the same options in sections whose keys are no addresses.
type NoAddressKeys struct {
	IPv6Prefix int `ini:"ipv6_prefix" kind:"digits" default:"64" min:"32" max:"128" help:"accepted in every limiter's section; users have no prefix"`
	IPv4Prefix int `ini:"ipv4_prefix" kind:"digits" default:"32" min:"24" max:"32" help:"accepted in every limiter's section; users have no prefix"`
}

// Aggregate is a second, wider bucket around each address's own.
type Aggregate struct {
	AggregateFactor     int `ini:"aggregate_factor" kind:"digits" default:"0" min:"0" max:"100000" effect:"yes" help:"how many times its limit the wider network of an address may use in all, so that nobody multiplies a limit by the addresses he has; 0 means no limit on the wider network"`
	AggregateIPv6Prefix int `ini:"aggregate_ipv6_prefix" kind:"digits" default:"48" min:"16" max:"128" effect:"yes" help:"length of the wider IPv6 network"`
	AggregateIPv4Prefix int `ini:"aggregate_ipv4_prefix" kind:"digits" default:"24" min:"8" max:"32" effect:"yes" help:"length of the wider IPv4 network"`
}

// Prices are what a request costs an address or a client by how it ends. The
// dearest is charged before it runs, and what is over is given back: the burst
// bounds how many run at once. A principal is charged 1 for each request.
type Prices struct {
	PriceSuccess int `ini:"price_success" kind:"digits" default:"1" min:"0" max:"100000" effect:"yes" help:"what a request costs that succeeds"`
	Price401     int `ini:"price_401" kind:"digits" default:"1" min:"0" max:"100000" effect:"yes" help:"what a request costs that is answered 401"`
	Price403     int `ini:"price_403" kind:"digits" default:"1" min:"0" max:"100000" effect:"yes" help:"what a request costs that is answered 403"`
	Price404     int `ini:"price_404" kind:"digits" default:"1" min:"0" max:"100000" effect:"yes" help:"what a request costs that is answered 404"`
	Price429     int `ini:"price_429" kind:"digits" default:"0" min:"0" max:"100000" effect:"yes" help:"what a request costs that another limit refuses"`
	PriceOther   int `ini:"price_other" kind:"digits" default:"1" min:"0" max:"100000" effect:"yes" help:"what any other request costs"`
}

// RateLimitGlobalIP is the section [rate_limit_global_ip]: one bucket a client
// address, charged before a request is read.
type RateLimitGlobalIP struct {
	Enabled                bool   `ini:"enabled" default:"false" sample:"true" effect:"yes" help:"limit requests without a valid token by client address; both numbers are needed then"`
	BurstSize              *int   `ini:"burst_size" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"100" effect:"yes" help:"requests admitted at once by an address that has been quiet"`
	ReplenishRatePerSecond *int   `ini:"replenish_rate_per_second" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"10" effect:"yes" help:"requests a second that an address gains back"`
	Mode                   string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	Aggregate
	AddressKeys
	LimiterStore
}

// RateLimitUserAuth is the section [rate_limit_user_auth]: one bucket a user
// id, charged before the password is looked at and given back on success.
type RateLimitUserAuth struct {
	Enabled                bool   `ini:"enabled" default:"false" sample:"false" effect:"yes" help:"limit login attempts by user; both numbers are needed then"`
	BurstSize              *int   `ini:"burst_size" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"5" effect:"yes" help:"failed logins admitted at once for a user that has been quiet"`
	ReplenishRatePerSecond *int   `ini:"replenish_rate_per_second" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"1" effect:"yes" help:"attempts a second that a user gains back"`
	Mode                   string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	LimiterStore
	NoAddressKeys
}

// RateLimitTrustedProxies is the section [rate_limit_trusted_proxies]: which
// peers are believed about the client's address, and in which header.
type RateLimitTrustedProxies struct {
	TrustedHeader  string   `ini:"trusted_header" default:"x_forwarded_for" sample:"x_forwarded_for" effect:"yes" help:"header that names the client: x_forwarded_for, forwarded, or single:NAME for a header with one address; read from trusted proxies alone"`
	TrustedProxies []string `ini:"trusted_proxies" kind:"prefixes" default:"" sample:"" effect:"yes" help:"networks of the balancers in front, comma-separated CIDRs; empty means that the peer is the client"`
}
