package conf

// Receipt is the section [receipt]: how long a receipt of an unfinished login lives.
type Receipt struct {
	Expiration   int    `ini:"expiration" default:"300" min:"0" max:"86400" effect:"yes" help:"seconds that the receipt of an unfinished login lives"`
	Provider     string `ini:"provider" default:"fernet" effect:"default" help:"only fernet exists"`
	Caching      bool   `ini:"caching" default:"True" help:"cache receipt data when the global cache is on"`
	CacheTime    int    `ini:"cache_time" default:"300" min:"0" help:"TTL seconds for cached receipt data; global TTL when unset"`
	CacheOnIssue bool   `ini:"cache_on_issue" default:"True" help:"prime the receipt cache at issue"`
}
