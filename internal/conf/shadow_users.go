package conf

// ShadowUsers is the section [shadow_users]; the tags hold each option's meaning.
type ShadowUsers struct {
	Driver string `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
}
