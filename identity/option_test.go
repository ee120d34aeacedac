package identity_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestMFARules drops what Python drops: data that is no list is no rules, a
// bad rule does not count.
func TestMFARules(t *testing.T) {
	for _, tt := range []struct {
		rules, enabled string
		want           [][]string
	}{
		{`[["password", "totp"]]`, "", [][]string{{"password", "totp"}}},
		{`[["password", "totp"], ["token"]]`, "true", [][]string{{"password", "totp"}, {"token"}}},
		{`[["password", "totp"]]`, "false", nil},
		{`[]`, "", nil},
		{`[[]]`, "", nil},
		{`[["password"], "totp", [], [1], ["a", 2], {"b": 1}, null, true]`, "", [][]string{{"password"}}},
		{`{"password": 1}`, "", nil},
		{`"password"`, "", nil},
		{`5`, "", nil},
		{`null`, "", nil},
		{``, "", nil},
		{`[["password"`, "", nil},
	} {
		o := identity.Options{identity.OptionMFARules: tt.rules}
		if tt.enabled != "" {
			o[identity.OptionMFAEnabled] = tt.enabled
		}
		if diff := cmp.Diff(tt.want, o.MFARules()); diff != "" {
			t.Errorf("rules %s, enabled %q: want -, got +\n%s", tt.rules, tt.enabled, diff)
		}
	}
	if got := (identity.Options{identity.OptionMFAEnabled: "true"}).MFARules(); got != nil {
		t.Errorf("no rules stored: got %v", got)
	}
}

// TestOptionOn takes JSON's true for set and nothing else.
func TestOptionOn(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "null": false, "1": false, `"true"`: false, "": false} {
		if got := (identity.Options{identity.OptionIgnoreLockout: value}).On(identity.OptionIgnoreLockout); got != want {
			t.Errorf("option %q: on is %v, want %v", value, got, want)
		}
	}
	if (identity.Options{identity.OptionIgnoreExpiry: "true"}).On(identity.OptionIgnoreLockout) {
		t.Error("an option that is missing is on")
	}
}

// TestOptionNames pairs the ids with the names of the API.
func TestOptionNames(t *testing.T) {
	all := identity.Options{
		"1000": "true", "1001": "false", "1002": "true", "1003": "true", "1004": "false",
		"MFAR": `[["password", "totp"]]`, "MFAE": "true", "9999": "true", "XXXX": "{",
	}
	want := []identity.Named{
		{Name: "ignore_change_password_upon_first_use", Value: true},
		{Name: "ignore_password_expiry", Value: false},
		{Name: "ignore_lockout_failure_attempts", Value: true},
		{Name: "lock_password", Value: true},
		{Name: "ignore_user_inactivity", Value: false},
		{Name: "multi_factor_auth_rules", Value: []any{[]any{"password", "totp"}}},
		{Name: "multi_factor_auth_enabled", Value: true},
	}
	if diff := cmp.Diff(want, all.Named()); diff != "" {
		t.Errorf("Named: want -, got +\n%s", diff)
	}
	for _, n := range want {
		id, ok := identity.OptionID(n.Name)
		if v, there := all[id]; !ok || !there || !jsonEqual(v, n.Value) {
			t.Errorf("OptionID(%q) = %q, %v", n.Name, id, ok)
		}
	}
	if id, ok := identity.OptionID("no_such_option"); ok {
		t.Errorf("OptionID of no option: %q", id)
	}
}

func jsonEqual(text string, v any) bool {
	var w any
	return json.Unmarshal([]byte(text), &w) == nil && cmp.Equal(w, v)
}

// TestOptionsRead finds the options by id, by name and by both names.
func TestOptionsRead(t *testing.T) {
	each(t, func(s *stand) {
		s.local("u", "d", "ana")
		s.local("v", "d", dbtest.Apart(s.db, "Ana", "anna"))
		s.exec(`insert into user_option (user_id, option_id, option_value) values ('u', '1003', 'true'), ('u', 'MFAR', $1), ('v', '1000', 'true')`, nil)
		want := identity.Options{"1003": "true", "MFAR": ""}
		for how, q := range map[string]db.Query[identity.Option]{
			"OptionsOf": identity.OptionsOf("u"), "OptionsByName": identity.OptionsByName("ana", "d"), "OptionsByNames": identity.OptionsByNames("ana", "Dom"),
		} {
			rows, err := db.All(s.Context(), s.db, q)
			s.must(err)
			if diff := cmp.Diff(want, identity.OptionsFrom(rows)); diff != "" {
				s.Errorf("%s: want -, got +\n%s", how, diff)
			}
		}
		for how, q := range map[string]db.Query[identity.Option]{
			"OptionsOf": identity.OptionsOf("w"), "OptionsByName": identity.OptionsByName("ana", "x"), "OptionsByNames": identity.OptionsByNames("ana", dbtest.Apart(s.db, "dom", "none")),
		} {
			if rows, err := db.All(s.Context(), s.db, q); err != nil || len(rows) != 0 {
				s.Errorf("%s of nobody: got %v, %v", how, rows, err)
			}
		}
	})
}
