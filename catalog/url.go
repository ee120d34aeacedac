package catalog

import (
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/internal/fault"
)

// fillable are the keys that an endpoint's URL may name
// (WHITELISTED_PROPERTIES in keystone/common/utils.py).
var fillable = []string{"tenant_id", "project_id", "user_id", "compute_host", "public_endpoint"}

// CheckURL refuses an endpoint's URL that Python's formatting could not fill
// in with texts under the keys there are.
func CheckURL(url string) error {
	rest := strings.ReplaceAll(url, "$(", "%(")
	// Without a key a conversion takes the whole mapping, and does so once.
	whole := true
	for {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return nil
		}
		keyed, tail, ok := conversion(after)
		if !ok {
			return fault.New(fault.BadRequest, "Cannot create an endpoint with an invalid URL: %s.", url)
		}
		kind := tail[0]
		if kind != '%' {
			if !strings.ContainsRune("sra", rune(kind)) || !keyed && !whole {
				return fault.New(fault.BadRequest, "Cannot create an endpoint with an invalid URL: %s.", url)
			}
			whole = false
		}
		rest = tail[1:]
	}
}

// conversion reads what follows a percent sign up to the letter that says what
// to make of the value, and gives the rest from that letter on.
func conversion(s string) (keyed bool, tail string, ok bool) {
	if strings.HasPrefix(s, "(") {
		key, after, closed := strings.Cut(s[1:], ")")
		if !closed || !slices.Contains(fillable, key) {
			return false, "", false
		}
		keyed, s = true, after
	}
	s = strings.TrimLeft(s, "-+ #0")
	s = strings.TrimLeft(s, "0123456789")
	if after, dotted := strings.CutPrefix(s, "."); dotted {
		s = strings.TrimLeft(after, "0123456789")
	}
	if s != "" && strings.ContainsRune("hlL", rune(s[0])) {
		s = s[1:]
	}
	return keyed, s, s != ""
}
