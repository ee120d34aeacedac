package conf

// OAuth1 is the section [oauth1]: how long OAuth1 tokens live.
type OAuth1 struct {
	Driver               string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	RequestTokenDuration int    `ini:"request_token_duration" default:"28800" min:"0" help:"seconds a request token lives; 0 forever"`
	AccessTokenDuration  int    `ini:"access_token_duration" default:"86400" min:"0" help:"seconds an access token lives; 0 forever"`
}
