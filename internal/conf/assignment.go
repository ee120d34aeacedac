package conf

// Assignment is the section [assignment]: which roles may never be implied.
type Assignment struct {
	Driver                string   `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	ProhibitedImpliedRole []string `ini:"prohibited_implied_role" default:"admin" effect:"yes" help:"role names that may never be implied by another"`
}
