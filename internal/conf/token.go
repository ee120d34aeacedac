package conf

// Token is the section [token]; the tags hold each option's meaning.
type Token struct {
	Expiration              int    `ini:"expiration" default:"3600" min:"0" max:"9223372036854775807" effect:"yes" help:"token lifetime in seconds"`
	Provider                string `ini:"provider" default:"fernet" effect:"default" help:"fernet or jws"`
	Caching                 bool   `ini:"caching" default:"True" help:"cache token data when the global cache is on"`
	CacheTime               *int   `ini:"cache_time" min:"0" max:"9223372036854775807" help:"TTL seconds for cached token data; global TTL when unset"`
	RevokeByID              bool   `ini:"revoke_by_id" default:"True" effect:"yes" help:"single-token revocation; also turns the dead PKI list from 403 to 410 when off"`
	AllowRescopeScopedToken bool   `ini:"allow_rescope_scoped_token" default:"True" effect:"yes" help:"whether a scoped token may be exchanged for another scope"`
	CacheOnIssue            bool   `ini:"cache_on_issue" default:"True" removal:"since S" help:"prime the token cache at issue; deprecated"`
	AllowExpiredWindow      int    `ini:"allow_expired_window" default:"172800" effect:"yes" help:"seconds past expiry that allow_expired validation tolerates"`
}
