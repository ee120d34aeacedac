package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// told notes what an observer is told.
type told struct{ all []string }

func (o *told) Login(method, outcome, reason string) {
	o.all = append(o.all, "login "+method+" "+outcome+" "+reason)
}
func (o *told) Issued(provider string)   { o.all = append(o.all, "issued "+provider) }
func (o *told) Validated(outcome string) { o.all = append(o.all, "validated "+outcome) }
func (o *told) Revoked()                 { o.all = append(o.all, "revoked") }

// hears runs f and holds what was told meanwhile against want; "" is nothing.
func (o *told) hears(t *testing.T, what, want string, f func()) {
	t.Helper()
	o.all = nil
	f()
	if diff := cmp.Diff(want, strings.Join(o.all, ", ")); diff != "" {
		t.Errorf("%s: want -, got +\n%s", what, diff)
	}
}

// TestObserveLogins: each login is told of once, in words of the code.
func TestObserveLogins(t *testing.T) {
	o := &told{}
	each(t, world{Config: auth.Config{Observer: o, Provider: "fernet", RescopeScoped: true}, attempts: ptr(3), duration: time.Hour}, func(s *stand) {
		s.failures("ben", 3, noon)
		s.option("fay", identity.OptionMFARules, `[["password", "totp"]]`)
		held, user := s.token("ana", unscoped).ID, s.ids["ana"]
		both := login(`"methods": ["password", "token"], "password": {"user": {"id": "`+user+`", "password": "ana"}}, "token": {"id": "`+held+`"}`, onP1)
		for what, tt := range map[string]struct{ text, want string }{
			"right":           {byPassword(user, "ana", onP1), "login password success none"},
			"by token":        {byToken(held, onP1), "login token success none"},
			"by both":         {both, "login several success none"},
			"by nothing":      {login(`"methods": []`, ""), "login none failure unknown_user"},
			"wrong":           {byPassword(user, "wrong", onP1), "login password failure wrong_password"},
			"unknown user":    {byPassword("nobody", "x", onP1), "login password failure unknown_user"},
			"unknown scope":   {byPassword(user, "ana", `{"project": {"id": "none"}}`), "login password failure bad_scope"},
			"no role":         {byPassword(user, "ana", `{"project": {"id": "pfar"}}`), "login password failure no_role"},
			"locked":          {byPassword(s.ids["ben"], "ben", unscoped), "login password failure locked"},
			"disabled":        {byPassword(s.ids["cyd"], "cyd", unscoped), "login password failure user_disabled"},
			"domain disabled": {byPassword(s.ids["oli"], "oli", unscoped), "login password failure domain_disabled"},
			"receipt":         {byPassword(s.ids["fay"], "fay", unscoped), "login password partial factors_missing"},
			"bad token":       {byToken("garbage", onP1), "login token failure unknown_token"},
		} {
			o.all = nil
			_, err := s.try(tt.text)
			logins := 0
			for _, line := range o.all {
				if strings.HasPrefix(line, "login ") {
					logins++
				}
			}
			if got := o.all[len(o.all)-1]; got != tt.want || logins != 1 {
				s.Errorf("%s: told %q, want %q", what, o.all, tt.want)
			}
			if issued := len(o.all) > 1 && o.all[len(o.all)-2] == "issued fernet"; issued != (err == nil) {
				s.Errorf("%s (%v): told %q", what, err, o.all)
			}
		}
		s.hash.fail = &passhash.Busy{}
		o.hears(s.T, "busy", "login password refused hash_queue", func() { _, _ = s.try(byPassword(user, "ana", onP1)) })
		o.hears(s.T, "busy change", "login password_change refused hash_queue", func() { _ = s.change(user, "ana", "new") })
		s.hash.fail = nil
		o.hears(s.T, "change", "login password_change failure wrong_password", func() { _ = s.change(user, "wrong", "new") })
		o.hears(s.T, "bad body", "login none failure bad_request", func() {
			_, _ = s.auth.ParseRequest(pyjson.Object{{Key: "auth", Value: nil}})
		})
	})
}

// TestObserveTokens: each token that is judged is told of once, and every one
// that is revoked.
func TestObserveTokens(t *testing.T) {
	o := &told{}
	each(t, world{Config: auth.Config{Observer: o}}, func(s *stand) {
		caller, held := s.token("ana", onP2).ID, s.token("ana", onP1)
		pair := func(subject string) func() {
			return func() { s.validate(auth.Check{Caller: caller, Subject: subject}) }
		}
		o.hears(s.T, "caller alone", "validated valid", func() { s.validate(auth.Check{Caller: caller}) })
		o.hears(s.T, "both", "validated valid, validated valid", pair(held.ID))
		o.hears(s.T, "itself, judged once", "validated valid", pair(caller))
		o.hears(s.T, "nothing", "", func() { s.validate(auth.Check{}) })
		for want, id := range map[string]string{
			"invalid": "garbage",
			"expired": s.forge(token.Token{UserID: s.ids["ana"], ExpiresAt: noon.Add(-time.Second)}),
			"no_role": s.forge(token.Token{UserID: s.ids["ana"], ProjectID: "pfar"}),
			"gone":    s.forge(token.Token{UserID: "nobody"}),
		} {
			o.all = nil
			pair(id)()
			if !strings.Contains(strings.Join(o.all, ", "), "validated "+want) || len(o.all) != 2 {
				s.Errorf("subject %s: told %q", want, o.all)
			}
		}
		o.hears(s.T, "revoke", "revoked", func() { s.must(s.auth.Revoke(s.Context(), held, true)) })
		o.hears(s.T, "revoked", "validated valid, validated revoked", pair(held.ID))
	})
}
