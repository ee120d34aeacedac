package auth_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
)

func rescoping(on bool) world { return world{Config: auth.Config{RescopeScoped: on}} }

// methods sorts: an answer shows them in no order.
func methods(id *auth.Identity) []string {
	out := slices.Clone(id.Token.Methods)
	slices.Sort(out)
	return out
}

// TestRescope: a token made from a token lives no longer, carries the first
// one's audit id behind its own, and counts the first one's methods as passed.
func TestRescope(t *testing.T) {
	each(t, rescoping(true), func(s *stand) {
		first := s.token("ana", unscoped)
		last := first
		for i, scope := range []string{onP1, onP2, onFar, unscoped, onSystem, onSystem, unscoped, onP1} {
			s.clock = s.clock.Add(time.Minute)
			next, err := s.try(byToken(last.ID, scope))
			if err != nil {
				s.Fatalf("exchange %d, for %s: %v", i, scope, err)
			}
			if !next.Token.ExpiresAt.Equal(first.Token.ExpiresAt) {
				s.Errorf("exchange %d: expires at %v, the first at %v", i, next.Token.ExpiresAt, first.Token.ExpiresAt)
			}
			if want := s.clock.Truncate(time.Second); !next.Token.IssuedAt.Equal(want) {
				s.Errorf("exchange %d: issued at %v, want %v", i, next.Token.IssuedAt, want)
			}
			ids := next.Token.AuditIDs
			if len(ids) != 2 || ids[1] != first.Token.AuditIDs[0] || ids[0] == ids[1] || ids[0] == last.Token.AuditIDs[0] {
				s.Errorf("exchange %d: audit ids %v, the first's %v", i, ids, first.Token.AuditIDs)
			}
			if diff := cmp.Diff([]string{"password", "token"}, methods(next)); diff != "" {
				s.Errorf("exchange %d: methods: want -, got +\n%s", i, diff)
			}
			if _, err := s.subject(next.ID); err != nil {
				s.Errorf("exchange %d gave a token that is not valid: %v", i, err)
			}
			if scope == onSystem && i == 5 {
				last = first // a system token leads to no project
			} else {
				last = next
			}
		}
		if a := s.account("ana"); a.FailedAuthCount != 0 {
			s.Errorf("%d failures", a.FailedAuthCount)
		}
	})
}

// TestRescopeEnds: at the end of its life a token makes no other.
func TestRescopeEnds(t *testing.T) {
	each(t, rescoping(true), func(s *stand) {
		held := s.token("ana", unscoped)
		s.clock = held.Token.ExpiresAt
		if _, err := s.try(byToken(held.ID, onP1)); message(err) != "404 Failed to validate token" {
			s.Errorf("expired source: %q", message(err))
		}
	})
}

// TestRescopeRefused: which tokens make no other.
func TestRescopeRefused(t *testing.T) {
	const (
		forbidden = "403 You are not authorized to perform the requested action: "
		delegated = forbidden + "Using a delegated token to create another token is not allowed.."
		upward    = forbidden + "Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.."
	)
	each(t, rescoping(true), func(s *stand) {
		ana := s.ids["ana"]
		s.update("ben", identity.Change{Enabled: ptr(false)})
		for _, tt := range []struct {
			name, scope string
			source      token.Token
			want        string
		}{
			{"system to project", onP1, token.Token{UserID: ana, System: "all"}, upward},
			{"system to domain", onFar, token.Token{UserID: ana, System: "all"}, upward},
			{"system to system", onSystem, token.Token{UserID: ana, System: "all"}, ""},
			{"system to unscoped", unscoped, token.Token{UserID: ana, System: "all"}, ""},
			{"project to system", onSystem, token.Token{UserID: ana, ProjectID: "p1"}, ""},
			{"project to domain", onFar, token.Token{UserID: ana, ProjectID: "p1"}, ""},
			{"trust", unscoped, token.Token{UserID: ana, ProjectID: "p1", TrustID: "aa000000000000000000000000000001"}, forbidden + "Using trust-scoped token to create another token. Create a new trust-scoped token instead."},
			{"OAuth", unscoped, token.Token{UserID: ana, ProjectID: "p1", AccessTokenID: "x"}, forbidden + "Using OAuth-scoped token to create another token. Create a new OAuth-scoped token instead."},
			{"application credential", unscoped, token.Token{UserID: ana, ProjectID: "p1", AppCredID: "x"}, delegated},
			{"application credential, for a project", onP1, token.Token{UserID: ana, ProjectID: "p1", AppCredID: "x"}, delegated},
			{"certificate", unscoped, token.Token{UserID: ana, ProjectID: "p1", Thumbprint: "x"}, delegated},
			{"method that is not known", unscoped, token.Token{UserID: ana, Methods: []string{"ec2credential"}}, delegated},
			{"no role on the target", `{"project": {"id": "pfar"}}`, token.Token{UserID: ana}, bare},
			{"target that is gone", `{"project": {"id": "gone"}}`, token.Token{UserID: ana}, bare},
			{"user disabled", unscoped, token.Token{UserID: s.ids["ben"]}, "404 Failed to validate token"},
			{"user gone", unscoped, token.Token{UserID: "nobody"}, "404 Could not find user: nobody."},
			{"source's project gone", unscoped, token.Token{UserID: ana, ProjectID: "gone"}, "404 Could not find project: gone."},
			{"source without a role left", unscoped, token.Token{UserID: ana, ProjectID: "pfar"}, "404 Could not find token."},
		} {
			if _, err := s.try(byToken(s.forge(tt.source), tt.scope)); message(err) != tt.want {
				s.Errorf("%s: got %q, want %q", tt.name, message(err), tt.want)
			}
		}
		for text, want := range map[string]string{"garbage": "404 Could not recognize Fernet token", "": "404 No token in the request"} {
			if _, err := s.try(byToken(text, onP1)); message(err) != want {
				s.Errorf("token %q: got %q, want %q", text, message(err), want)
			}
		}
	})
}

// TestRescopeOff is [token] allow_rescope_scoped_token = false: only a token
// without a scope makes others.
func TestRescopeOff(t *testing.T) {
	each(t, rescoping(false), func(s *stand) {
		for name, source := range map[string]token.Token{
			"project": {ProjectID: "p1"}, "domain": {DomainID: far}, "system": {System: "all"}, "unscoped": {},
		} {
			source.UserID = s.ids["ana"]
			want := "403 You are not authorized to perform the requested action: rescope a scoped token."
			if name == "unscoped" {
				want = ""
			}
			if _, err := s.try(byToken(s.forge(source), onSystem)); message(err) != want {
				s.Errorf("source %s: got %q, want %q", name, message(err), want)
			}
		}
	})
}

// TestTwoMethods: both must succeed and mean one user; the token lives as long
// as the source token, and has the methods of both.
func TestTwoMethods(t *testing.T) {
	each(t, rescoping(true), func(s *stand) {
		held := s.token("ana", unscoped)
		s.clock = s.clock.Add(time.Minute)
		two := func(order, user, password, id string) string {
			return login(`"methods": [`+order+`], "password": {"user": {"id": "`+user+`", "password": "`+password+`"}}, "token": {"id": "`+id+`"}`, onP1)
		}
		const passwordFirst, tokenFirst = `"password", "token"`, `"token", "password", "token"`
		for _, order := range []string{passwordFirst, tokenFirst} {
			got, err := s.try(two(order, s.ids["ana"], "ana", held.ID))
			s.must(err)
			if !got.Token.ExpiresAt.Equal(held.Token.ExpiresAt) || len(got.Token.AuditIDs) != 2 || got.Token.AuditIDs[1] != held.Token.AuditIDs[0] {
				s.Errorf("methods %s: %+v", order, got.Token)
			}
			if diff := cmp.Diff([]string{"password", "token"}, methods(got)); diff != "" {
				s.Errorf("methods %s: want -, got +\n%s", order, diff)
			}
			if _, err := s.try(two(order, s.ids["ana"], "wrong", held.ID)); message(err) != bare {
				s.Errorf("methods %s, wrong password: %q", order, message(err))
			}
			if _, err := s.try(two(order, s.ids["ben"], "ben", held.ID)); message(err) != bare {
				s.Errorf("methods %s, two users: %q", order, message(err))
			}
			if _, err := s.try(two(order, s.ids["ana"], "ana", "garbage")); message(err) != "404 Could not recognize Fernet token" {
				s.Errorf("methods %s, bad token: %q", order, message(err))
			}
		}
		if _, err := s.try(login(`"methods": []`, onP1)); message(err) != bare {
			s.Errorf("no methods: %q", message(err))
		}
	})
}
