package conf

// TOTP is the section [totp]; the tags hold each option's meaning.
type TOTP struct {
	IncludedPreviousWindows int `ini:"included_previous_windows" default:"1" min:"0" max:"10" help:"older TOTP windows still accepted"`
}
