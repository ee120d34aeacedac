package resource

import (
	"encoding/json"
	"errors"
	"testing"
)

// TestFill: the answers are those of Python 3.11.
func TestFill(t *testing.T) {
	secrets := map[string]any{"password": "pä", "n": json.Number("5"), "f": json.Number("1.50"), "e": "", "b": true, "z": nil, "l": []any{json.Number("1")}, "p%": "%(e)s"}
	for text, want := range map[string]string{
		"":                                "",
		"ldap://x/%(password)s@%(n)s":     "ldap://x/pä@5",
		"%(password)5s|%(password)-5s|":   "   pä|pä   |",
		"%(password)05s|%(password)+ #3s": "   pä| pä",
		"%(password).1s%(password).0s":    "p",
		"%(e)s":                           "",
		"100%%, %%(n)s":                   "100%, %(n)s",
		"%(f)s %(b)s %(z)s %(l)s":         "1.5 True None [1]",
		"%(password)ls":                   "pä",
		"%(p%)s":                          "%(e)s",
	} {
		if got, err := fill(text, secrets); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"%(none)s": errNoSecret, "%()s": errNoSecret, "%(none)%": errNoSecret, "%(Password)s": errNoSecret,
		"50%": errMalformed, "%%%": errMalformed, "%s": errMalformed, "%(password": errMalformed, "%(password)": errMalformed, "a%(n)": errMalformed,
		"%(password)d": errMalformed, "%(password)z": errMalformed, "%(password)%": errMalformed, "%5%|": errMalformed,
		"%(password)*s": errMalformed, "% (n)s": errMalformed, "%(password)\ns": errMalformed, "%(password)9999s": errMalformed,
	} {
		if got, err := fill(text, secrets); !errors.Is(err, want) || got != "" {
			t.Errorf("%s: got %s, %v, want %v", text, got, err, want)
		}
	}
}
