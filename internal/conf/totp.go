package conf

// TOTP is the section [totp]: one-time passwords.
type TOTP struct {
	IncludedPreviousWindows int `ini:"included_previous_windows" default:"1" min:"0" max:"10" help:"older TOTP windows still accepted"`
}
