package conf

// FernetReceipts is the section [fernet_receipts]: the keys of receipts.
type FernetReceipts struct {
	KeyRepository string `ini:"key_repository" default:"/etc/keystone/fernet-keys/" effect:"yes" help:"folder of the keys of receipts"`
	MaxActiveKeys int    `ini:"max_active_keys" default:"3" min:"1" effect:"yes" help:"keys kept when the keys of receipts are rotated, the staged one included"`
}
