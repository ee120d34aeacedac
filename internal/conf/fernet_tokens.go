package conf

// FernetTokens is the section [fernet_tokens]: the keys of tokens.
type FernetTokens struct {
	KeyRepository string `ini:"key_repository" default:"/etc/keystone/fernet-keys/" effect:"yes" help:"folder of the keys of tokens"`
	MaxActiveKeys int    `ini:"max_active_keys" default:"3" min:"1" effect:"yes" help:"keys kept when the keys of tokens are rotated, the staged one included"`
}
