package conf

// RateLimitGlobalIP is the section [rate_limit_global_ip]: one bucket a client
// address, charged before a request is read.
type RateLimitGlobalIP struct {
	Enabled                bool `ini:"enabled" default:"false" sample:"true" effect:"yes" help:"limit requests without a valid token by client address; both numbers are needed then"`
	BurstSize              *int `ini:"burst_size" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"100" effect:"yes" help:"requests admitted at once by an address that has been quiet"`
	ReplenishRatePerSecond *int `ini:"replenish_rate_per_second" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"10" effect:"yes" help:"requests a second that an address gains back"`
	MaxEntries             int  `ini:"max_entries" kind:"digits" default:"10000" min:"1000" max:"10000000" effect:"yes" help:"addresses remembered; beyond it refilled ones go first, then the least recently seen"`
	IPv6Prefix             int  `ini:"ipv6_prefix" kind:"digits" default:"64" min:"32" max:"128" effect:"yes" help:"length of the IPv6 prefix that shares a bucket"`
	IPv4Prefix             int  `ini:"ipv4_prefix" kind:"digits" default:"32" min:"24" max:"32" effect:"yes" help:"length of the IPv4 prefix that shares a bucket"`
}

// RateLimitUserAuth is the section [rate_limit_user_auth]: one bucket a user
// id, charged before the password is looked at and given back on success.
type RateLimitUserAuth struct {
	Enabled                bool `ini:"enabled" default:"false" sample:"false" effect:"yes" help:"limit login attempts by user; both numbers are needed then"`
	BurstSize              *int `ini:"burst_size" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"5" effect:"yes" help:"failed logins admitted at once for a user that has been quiet"`
	ReplenishRatePerSecond *int `ini:"replenish_rate_per_second" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"1" effect:"yes" help:"attempts a second that a user gains back"`
	MaxEntries             int  `ini:"max_entries" kind:"digits" default:"10000" min:"1000" max:"10000000" effect:"yes" help:"users remembered; beyond it refilled ones go first, then the least recently seen"`
	IPv6Prefix             int  `ini:"ipv6_prefix" kind:"digits" default:"64" min:"32" max:"128" help:"accepted in every limiter's section; users have no prefix"`
	IPv4Prefix             int  `ini:"ipv4_prefix" kind:"digits" default:"32" min:"24" max:"32" help:"accepted in every limiter's section; users have no prefix"`
}

// RateLimitTrustedProxies is the section [rate_limit_trusted_proxies]: which
// peers are believed about the client's address, and in which header.
type RateLimitTrustedProxies struct {
	TrustedHeader  string   `ini:"trusted_header" default:"x_forwarded_for" sample:"x_forwarded_for" effect:"yes" help:"header that names the client: x_forwarded_for, forwarded, or single:NAME for a header with one address; read from trusted proxies alone"`
	TrustedProxies []string `ini:"trusted_proxies" kind:"prefixes" default:"" sample:"" effect:"yes" help:"networks of the balancers in front, comma-separated CIDRs; empty means that the peer is the client"`
}
