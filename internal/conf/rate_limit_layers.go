package conf

// RateLimitDefault is the section [rate_limit_default]: one bucket a client
// address for all requests, the outermost limit.
type RateLimitDefault struct {
	PerAddress *Limit `ini:"per_address" kind:"limit" sample:"300/1m burst 3000" effect:"yes" help:"requests of one client address in all; validations by a valid token are not counted. Unset, there is no such limit"`
	Mode       string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" sample:"shadow" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	Prices
	AddressKeys
	LimiterStore
}

// RateLimitSignedIn is the section [rate_limit_signed_in]: one bucket a user
// with a valid token, apart for each of his application credentials.
type RateLimitSignedIn struct {
	PerPrincipal *Limit `ini:"per_principal" kind:"limit" sample:"1200/1m" effect:"yes" help:"requests of one user by valid tokens; an application credential of his has a bucket of its own. Unset, there is no such limit"`
	Mode         string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" sample:"shadow" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	LimiterStore
	NoAddressKeys
}

// RateLimitRoute is a section [rate_limit_route:NAME]: limits of the routes
// that it lists.
type RateLimitRoute struct {
	Name string

	Paths        []string `ini:"paths" kind:"paths" effect:"yes" help:"routes that the section is about, comma-separated METHOD:/path; {name} stands for one segment, a * at the end for everything below. Of several sections the longest path decides"`
	PerAddress   *Limit   `ini:"per_address" kind:"limit" effect:"yes" help:"requests of one client address"`
	PerClient    *Limit   `ini:"per_client" kind:"limit" effect:"yes" help:"requests of one OAuth2 client, by the id it names in HTTP Basic or as client_id; ids that nobody has share one bucket"`
	PerPrincipal *Limit   `ini:"per_principal" kind:"limit" effect:"yes" help:"requests of one user by valid tokens, and tokens issued to one user; in place of [rate_limit_signed_in]"`
	Exempt       bool     `ini:"exempt" default:"false" effect:"yes" help:"the routes are counted neither here nor in [rate_limit_default] and [rate_limit_signed_in]"`
	Mode         string   `ini:"mode" default:"enforce" choices:"enforce,shadow,off" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	Prices
	AddressKeys
	LimiterStore
}

// RateLimitTrustedPair is the section [rate_limit_trusted_pair]: a bucket of
// its own for a user at an address from which he has logged in.
type RateLimitTrustedPair struct {
	Enabled                bool   `ini:"enabled" default:"false" sample:"true" effect:"yes" help:"while [rate_limit_user_auth] is enabled: a user who logged in from an address has a bucket of his own there, so that strangers cannot spend it; both numbers are needed then"`
	BurstSize              *int   `ini:"burst_size" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"60" effect:"yes" help:"failed logins admitted at once for such a pair"`
	ReplenishRatePerSecond *int   `ini:"replenish_rate_per_second" kind:"digits" min:"1" max:"100000" when:"enabled" sample:"10" effect:"yes" help:"attempts a second that such a pair gains back"`
	TrustDuration          int    `ini:"trust_duration" kind:"digits" default:"86400" min:"60" max:"2592000" effect:"yes" help:"seconds that a pair is trusted after a login"`
	Mode                   string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	AddressKeys
	LimiterStore
}

// RateLimitDecoy is the section [rate_limit_decoy]: the limit of
// [rate_limit_user_auth] for names that no user has, so that they look alike.
type RateLimitDecoy struct {
	Enabled bool `ini:"enabled" default:"true" sample:"true" effect:"yes" help:"while [rate_limit_user_auth] is enabled: unknown names are limited as users are, by the same numbers, so that a refusal does not tell who exists"`
	LimiterStore
	NoAddressKeys
}

// RateLimitFailedLogin is the section [rate_limit_failed_login]: failures
// alone, by address and by user and address.
type RateLimitFailedLogin struct {
	PerAddress     *Limit `ini:"per_address" kind:"limit" sample:"60/1m" effect:"yes" help:"failed logins of one client address"`
	PerUserAddress *Limit `ini:"per_user_address" kind:"limit" sample:"20/1m" effect:"yes" help:"failed logins of one user from one client address"`
	GrowingPenalty bool   `ini:"growing_penalty" default:"false" effect:"yes" help:"each failure of a user from an address in a row costs twice the one before, up to the burst; a success begins anew"`
	Mode           string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" sample:"shadow" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	Aggregate
	AddressKeys
	LimiterStore
}

// RateLimitSpray is the section [rate_limit_spray]: few guesses at each of many
// users.
type RateLimitSpray struct {
	PerAddress    *Limit `ini:"per_address" kind:"limit" sample:"20/10m" effect:"yes" help:"different users at whom one client address fails"`
	PerPassword   *Limit `ini:"per_password" kind:"limit" sample:"10/10m" effect:"yes" help:"different users at whom one wrong password is tried, from wherever; beyond it failures with that password cost password_price. Passwords are kept as hashes by a key of the process, in memory alone"`
	PasswordPrice int    `ini:"password_price" kind:"digits" default:"5" min:"1" max:"100000" effect:"yes" help:"what a failure with such a password costs in [rate_limit_failed_login]"`
	Mode          string `ini:"mode" default:"enforce" choices:"enforce,shadow,off" sample:"shadow" effect:"yes" help:"what a refusal does: enforce, shadow or off, as in [rate_limit]"`
	AddressKeys
	LimiterStore
}
