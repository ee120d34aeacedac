package conf

// IdentityMapping is the section [identity_mapping]: public ids of users that live elsewhere.
type IdentityMapping struct {
	Driver                string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	Generator             string `ini:"generator" default:"sha256" help:"only sha256 exists"`
	BackwardCompatibleIDs bool   `ini:"backward_compatible_ids" default:"True" help:"default LDAP domain keeps raw ids instead of hashed public ids"`
}
