package conf

// FernetReceipts is the section [fernet_receipts]; the tags hold each option's meaning.
type FernetReceipts struct {
	KeyRepository string `ini:"key_repository" default:"/etc/keystone/fernet-keys/" effect:"yes" help:"directory of Fernet keys for auth receipts"`
	MaxActiveKeys int    `ini:"max_active_keys" default:"3" min:"1" effect:"yes" help:"keys kept at rotation (receipts)"`
}
