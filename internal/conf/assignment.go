package conf

// Assignment is the section [assignment]; the tags hold each option's meaning.
type Assignment struct {
	Driver                string   `ini:"driver" default:"sql" effect:"default" help:"backend choice; only sql ships, warn on anything else"`
	ProhibitedImpliedRole []string `ini:"prohibited_implied_role" default:"admin" help:"role names that may never be implied by another"`
}
