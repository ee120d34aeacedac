package conf

// ShadowUsers is the section [shadow_users]: local records of users that live elsewhere.
type ShadowUsers struct {
	Driver string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
