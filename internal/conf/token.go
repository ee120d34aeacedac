package conf

// Token is the section [token]: how long tokens live and what they may be exchanged for.
type Token struct {
	Expiration              int    `ini:"expiration" default:"3600" min:"0" max:"9223372036854775807" effect:"yes" help:"seconds that a token lives"`
	Provider                string `ini:"provider" default:"fernet" effect:"yes" help:"what tokens are: fernet, or jws, which anybody can read and nobody can change"`
	Caching                 bool   `ini:"caching" default:"True" help:"cache token data when the global cache is on"`
	CacheTime               *int   `ini:"cache_time" min:"0" max:"9223372036854775807" help:"TTL seconds for cached token data; global TTL when unset"`
	RevokeByID              bool   `ini:"revoke_by_id" default:"True" help:"off, the dead list of revoked tokens answers 410 in place of 403"`
	AllowRescopeScopedToken bool   `ini:"allow_rescope_scoped_token" default:"True" effect:"yes" help:"a token with a scope may be exchanged for one with another"`
	CacheOnIssue            bool   `ini:"cache_on_issue" default:"True" removal:"since S" help:"prime the token cache at issue; deprecated"`
	AllowExpiredWindow      int    `ini:"allow_expired_window" default:"172800" effect:"yes" help:"seconds after its end during which services may still validate a token with allow_expired"`
}
