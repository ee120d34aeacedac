package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const unfinished = "401 Additional authentications steps required."

// again is a login with a receipt.
func (s *stand) again(receipt, text string) (*auth.Identity, error) {
	s.Helper()
	r := s.parse(text)
	r.Receipt = receipt
	return s.auth.Authenticate(s.Context(), r)
}

// TestMFARules: which rules let ana's password pass alone. The methods that
// are configured are external, password, token and totp.
func TestMFARules(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for _, tt := range []struct {
			rules, enabled string
			pass           bool
		}{
			{`[["password", "totp"]]`, "", false},
			{`[["password", "totp"]]`, "true", false},
			{`[["password", "totp"]]`, "false", true},
			{`[["totp"]]`, "", false},
			{`[["password"]]`, "", true},
			{`[["password", "totp"], ["password"]]`, "", true},
			{`[["password", "totp"], ["token", "totp"]]`, "", false},
			{`[]`, "", true},
			// methods that are not configured do not count
			{`[["password", "kerberos"]]`, "", true},
			{`[["kerberos"]]`, "", true},
			{`[["kerberos"], ["password", "totp"]]`, "", false},
			{`[["kerberos", "totp"]]`, "", false},
			// malformed
			{`{"password": ["totp"]}`, "", true},
			{`"totp"`, "", true},
			{`[["password", 1], "totp", [], null]`, "", true},
			{`[["password", 1], ["totp"]]`, "", false},
			{`[["password", "totp"`, "", true},
		} {
			s.exec(`delete from user_option`)
			s.exec(`insert into user_option (user_id, option_id, option_value) values ($1, 'MFAR', $2)`, s.ids["ana"], tt.rules)
			if tt.enabled != "" {
				s.exec(`insert into user_option (user_id, option_id, option_value) values ($1, 'MFAE', $2)`, s.ids["ana"], tt.enabled)
			}
			want := unfinished
			if tt.pass {
				want = ""
			}
			for _, text := range []string{
				byPassword(s.ids["ana"], "ana", onP1),
				login(`"methods": ["password"], "password": {"user": {"name": "ana", "domain": {"id": "default"}, "password": "ana"}}`, onP1),
				login(`"methods": ["password"], "password": {"user": {"name": "ana", "domain": {"name": "Default"}, "password": "ana"}}`, onP1),
			} {
				if _, err := s.try(text); message(err) != want {
					s.Errorf("rules %s, enabled %q: got %q, want %q", tt.rules, tt.enabled, message(err), want)
				}
			}
			if _, err := s.try(byPassword(s.ids["ana"], "wrong", onP1)); message(err) != bare {
				s.Errorf("rules %s, wrong password: got %q", tt.rules, message(err))
			}
		}
	})
}

// TestReceipt is the answer to the first step, and the way on from it.
func TestReceipt(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.option("ana", identity.OptionMFARules, `[["password", "totp"], ["token"], ["totp", "external"], ["password", "kerberos", "external"]]`)
		s.option("ben", identity.OptionMFARules, `[["password", "totp"]]`)
		_, err := s.try(byPassword(s.ids["ana"], "ana", onP1))
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Unauthorized || !f.Plain401 {
			s.Fatalf("first step: %v", err)
		}
		want := `{"receipt": {"methods": ["password"], "user": {"id": "` + s.ids["ana"] + `", "name": "ana", "domain": {"id": "default", "name": "Default"}}, ` +
			`"expires_at": "2026-11-30T12:05:00.000000Z", "issued_at": "2026-11-30T12:00:00.000000Z"}, ` +
			`"required_auth_methods": [["password", "totp"], ["password", "external"]]}`
		if got := pyjson.Encode(pyjson.Object{{Key: "receipt", Value: f.Body["receipt"]}, {Key: "required_auth_methods", Value: f.Body["required_auth_methods"]}}); got != want {
			s.Errorf("body: %s, want %s", got, want)
		}
		receipt := f.Header["Openstack-Auth-Receipt"]
		held, err := s.tokens.DecodeReceipt(receipt)
		s.must(err)
		if held.UserID != s.ids["ana"] || !cmp.Equal(held.Methods, []string{"password"}) || !held.ExpiresAt.Equal(noon.Truncate(time.Second).Add(5*time.Minute)) {
			s.Errorf("receipt %+v", held)
		}
		if _, err := s.again(receipt, byPassword(s.ids["ana"], "ana", onP1)); message(err) != unfinished {
			s.Errorf("the same method again: %q", message(err))
		}
		s.must2(s.again(s.receipt("ana", "totp"), byPassword(s.ids["ana"], "ana", onP1)))
	})
}

func (s *stand) must2(id *auth.Identity, err error) *auth.Identity {
	s.Helper()
	s.must(err)
	return id
}

// receipt makes one that says which methods a user has passed.
func (s *stand) receipt(name string, methods ...string) string {
	s.Helper()
	text, err := s.tokens.IssueReceipt(&token.Receipt{UserID: s.ids[name], Methods: methods, ExpiresAt: s.clock.Add(5 * time.Minute)})
	s.must(err)
	return text
}

// TestReceiptUse: a receipt is its user's, good until it expires, as often as
// he likes, and never instead of a method of the login.
func TestReceiptUse(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.option("ana", identity.OptionMFARules, `[["password", "totp"]]`)
		s.option("ben", identity.OptionMFARules, `[["password", "totp"]]`)
		anas := s.receipt("ana", "totp")
		for range 2 {
			id := s.must2(s.again(anas, byPassword(s.ids["ana"], "ana", onP1)))
			if diff := cmp.Diff([]string{"password", "totp"}, methods(id)); diff != "" {
				s.Errorf("methods: want -, got +\n%s", diff)
			}
			valid, err := s.subject(id.ID)
			if s.must(err); !cmp.Equal(methods(valid), []string{"password", "totp"}) {
				s.Errorf("methods of the token: %v", valid.Token.Methods)
			}
		}
		held := s.token("fay", unscoped).ID // a token is no receipt
		for what, receipt := range map[string]string{"another user's": s.receipt("ben", "totp"), "nonsense": "nonsense", "a token": held} {
			if _, err := s.again(receipt, byPassword(s.ids["ana"], "ana", onP1)); message(err) != "401 Could not find auth receipt: "+receipt+"." {
				s.Errorf("%s: got %q", what, message(err))
			}
		}
		if _, err := s.again(anas, byPassword(s.ids["ana"], "wrong", onP1)); message(err) != bare {
			s.Errorf("wrong password: %q", message(err))
		}
		if _, err := s.again(s.receipt("ana", "password", "totp"), login(`"methods": []`, onP1)); message(err) != bare {
			s.Errorf("a receipt alone: %q", message(err))
		}
		s.clock = noon.Truncate(time.Second).Add(5*time.Minute - time.Nanosecond)
		s.must2(s.again(anas, byPassword(s.ids["ana"], "ana", onP1)))
		s.clock = noon.Truncate(time.Second).Add(5 * time.Minute)
		if _, err := s.again(anas, byPassword(s.ids["ana"], "ana", onP1)); message(err) != "401 Could not find auth receipt: "+anas+"." {
			s.Errorf("expired: %q", message(err))
		}
	})
}

// TestReceiptWithoutRules: a bad receipt ends the login of a user without
// rules too, and a good one adds its methods.
func TestReceiptWithoutRules(t *testing.T) {
	each(t, world{}, func(s *stand) {
		if _, err := s.again("nonsense", byPassword(s.ids["ana"], "ana", onP1)); message(err) != "401 Could not find auth receipt: nonsense." {
			s.Errorf("bad receipt: %q", message(err))
		}
		id := s.must2(s.again(s.receipt("ana", "totp"), byPassword(s.ids["ana"], "ana", onP1)))
		if diff := cmp.Diff([]string{"password", "totp"}, methods(id)); diff != "" {
			s.Errorf("methods: want -, got +\n%s", diff)
		}
	})
}

// TestMFAByToken: a token brings the methods that it was gained with.
func TestMFAByToken(t *testing.T) {
	each(t, rescoping(true), func(s *stand) {
		one := s.token("ana", unscoped).ID
		both := s.must2(s.again(s.receipt("ana", "totp"), byPassword(s.ids["ana"], "ana", unscoped))).ID
		s.option("ana", identity.OptionMFARules, `[["password", "totp"]]`)
		if _, err := s.try(byToken(one, onP1)); message(err) != unfinished {
			s.Errorf("a token gained by password: %q", message(err))
		}
		s.must2(s.try(byToken(both, onP1)))
	})
}
