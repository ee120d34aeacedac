package conf

// FernetTokens is the section [fernet_tokens]; the tags hold each option's meaning.
type FernetTokens struct {
	KeyRepository string `ini:"key_repository" default:"/etc/keystone/fernet-keys/" effect:"yes" help:"directory of Fernet keys for tokens"`
	MaxActiveKeys int    `ini:"max_active_keys" default:"3" min:"1" effect:"yes" help:"keys kept at rotation (tokens)"`
}
