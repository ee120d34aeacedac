package identity

// Shown makes of a user's row and options what the API shows.
func Shown(a Account, options []Option) View {
	return View{Account: a, Options: OptionsFrom(options), Extra: extraOf(a.Extra)}
}
