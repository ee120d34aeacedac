package conf

// Credential is the section [credential]: the keys and limits of stored credentials.
type Credential struct {
	Driver        string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Provider      string `ini:"provider" default:"fernet" effect:"default" help:"only fernet exists"`
	KeyRepository string `ini:"key_repository" default:"/etc/keystone/credential-keys/" effect:"yes" help:"folder of the keys that encrypt stored credentials"`
	Caching       bool   `ini:"caching" default:"True" help:"cache credential data when the global cache is on"`
	CacheTime     *int   `ini:"cache_time" help:"TTL seconds for cached credential data; global TTL when unset"`
	AuthTTL       int    `ini:"auth_ttl" default:"15" help:"minutes an EC2/S3 signed timestamp stays acceptable"`
	UserLimit     int    `ini:"user_limit" default:"-1" effect:"yes" help:"most credentials per user; -1 none"`
}
