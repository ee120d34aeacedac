package rules_test

import (
	"testing"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// FuzzParse evaluates any text as a rule, with any values on both sides: it
// must come to an end without panic, never allow with an error, and, when the
// text can be read, be the opposite of its negation.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, cred, value string) {
		s := newSet(named)
		rule, err := rules.Parse(text)
		s.Rules["asked"] = rule
		s.Rules["default"] = rules.Or(rule, s.Rules["deny"])
		s.Default = "default"
		s.Rules["negated"], _ = rules.Parse("not ( " + text + " )")
		list, listErr := rules.ParseList([]any{[]any{text, "@"}, cred, []any{value}})
		if listErr != nil {
			t.Errorf("ParseList: %v", listErr)
		}
		s.Rules["list"] = list
		creds := map[string]any{"user_id": cred, "roles": []string{cred, "member"}, "list": []any{cred, nil, map[string]any{"a": cred}}, cred: value}
		target := map[string]any{"user_id": value, "x": 5, "f": 1e300, "null": nil, value: []any{cred}}
		s.Problems()
		_, _ = s.Allowed(t.Context(), "list", creds, target)
		ok, why := s.Allowed(t.Context(), "asked", creds, target)
		if ok && why != nil {
			t.Errorf("%q: allowed with %v", text, why)
		}
		if err != nil && ok {
			t.Errorf("%q is not read (%v) and allows", text, err)
		}
		if err != nil || text == "" {
			return
		}
		opposite, notWhy := s.Allowed(t.Context(), "negated", creds, target)
		if (why == nil) != (notWhy == nil) || why == nil && ok == opposite || opposite && notWhy != nil {
			t.Errorf("%q: got %v, %v; its negation %v, %v", text, ok, why, opposite, notWhy)
		}
	})
}
