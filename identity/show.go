package identity

import "github.com/keystone-go/keystone-go/internal/pyjson"

// Shown makes of a user's row and options what the API shows.
func Shown(a Account, options []Option) View {
	return View{Account: a, Options: OptionsFrom(options), Extra: pyjson.ReadExtra(a.Extra)}
}
