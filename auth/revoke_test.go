package auth_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
)

// Audit ids: a token's own, its parent's, and another's.
const (
	own    = "AAAAAAAAAAAAAAAAAAAAAA"
	parent = "BBBBBBBBBBBBBBBBBBBBBA"
	other  = "CCCCCCCCCCCCCCCCCCCCCA"
)

// event writes a revocation event out of "column value, column value"; a time
// is in seconds after the token's issue.
func (s *stand) event(text string) {
	s.Helper()
	issued := noon.Truncate(time.Second)
	columns, marks, args := []string{"revoked_at"}, []string{"$1"}, []any{noon}
	before := any(issued)
	for _, part := range strings.Split(text, ", ") {
		column, value, _ := strings.Cut(part, " ")
		v := any(value)
		switch column {
		case "":
			continue
		case "issued_before", "expires_at":
			d, err := time.ParseDuration(value)
			s.must(err)
			v = issued.Add(d)
		}
		if column == "issued_before" {
			before = v
			continue
		}
		args = append(args, v)
		columns, marks = append(columns, column), append(marks, fmt.Sprint("$", len(args)))
	}
	args = append(args, before)
	s.exec(fmt.Sprintf(`insert into revocation_event (%s, issued_before) values (%s, $%d)`, strings.Join(columns, ", "), strings.Join(marks, ", "), len(args)), args...)
}

// TestRevoked holds tokens of ana's against one event at a time. She is in
// domain default; "pfar" is a project of domain far. Unless said otherwise an
// event is of the very second of the token's issue, which counts.
func TestRevoked(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		ana, ben := s.ids["ana"], s.ids["ben"]
		s.grant("ana", "project pfar", "reader")
		tokens := map[string]string{}
		for kind, x := range map[string]token.Token{
			"unscoped": {}, "system": {System: "all"}, "p1": {ProjectID: "p1"}, "pfar": {ProjectID: "pfar"}, "far": {DomainID: far},
			"first": {ProjectID: "p1", AuditIDs: []string{own}},
		} {
			x.UserID = ana
			if x.AuditIDs == nil {
				x.AuditIDs = []string{own, parent}
			}
			tokens[kind] = s.forge(x) // good for an hour
		}
		const every = "unscoped system p1 pfar far first"
		for _, tt := range []struct{ event, kills string }{
			// time
			{"user_id " + ana, every},
			{"user_id " + ana + ", issued_before 1s", every},
			{"user_id " + ana + ", issued_before 1000h", every},
			{"user_id " + ana + ", issued_before -1s", ""},
			// user
			{"user_id " + ben, ""},
			{"user_id " + strings.ToUpper(ana[:31]) + "x", ""},
			// project
			{"project_id p1", "p1 first"},
			{"project_id pfar", "pfar"},
			{"project_id p2", ""},
			{"user_id " + ana + ", project_id p1", "p1 first"},
			{"user_id " + ben + ", project_id p1", ""},
			// audit id: the token's own
			{"audit_id " + own, every},
			{"audit_id " + parent, ""},
			{"audit_id " + other, ""},
			// audit chain: the parent's; a token that is first matches none, not even its own
			{"audit_chain_id " + parent, "unscoped system p1 pfar far"},
			{"audit_chain_id " + own, ""},
			{"audit_chain_id " + other, ""},
			{"audit_chain_id " + parent + ", project_id p1", "p1"},
			// domain: the user's, or that of the scope; never that of the project
			{"domain_id default", every},
			{"domain_id " + far, "far"},
			{"domain_id " + off, ""},
			// domain with an expiry: that of the scope alone
			{"domain_id " + far + ", expires_at 1h", "far"},
			{"domain_id " + far + ", expires_at 2h", ""},
			{"domain_id default, expires_at 1h", ""},
			// expiry
			{"expires_at 1h", every},
			{"user_id " + ana + ", expires_at 1h", every},
			{"user_id " + ana + ", expires_at 59m59s", ""},
			{"user_id " + ben + ", expires_at 1h", ""},
			// role: one of those that the token has by now
			{"role_id r-member", "p1 first"},
			{"role_id r-reader", "system p1 pfar far first"},
			{"role_id r-admin", ""},
			{"role_id r-reader, project_id pfar", "pfar"},
			// what these tokens have not
			{"trust_id t", ""},
			{"consumer_id c", ""},
			{"user_id " + ana + ", trust_id t", ""},
			{"user_id " + ana + ", consumer_id c", ""},
			// never compared, so it is as if it were not there
			{"access_token_id x", every},
			{"user_id " + ben + ", access_token_id x", ""},
			{"", every},
		} {
			s.exec(`delete from revocation_event`)
			s.event(tt.event)
			for kind, id := range tokens {
				_, err := s.subject(id)
				want := ""
				if strings.Contains(" "+tt.kills+" ", " "+kind+" ") {
					want = "404 Failed to validate token"
				}
				if got := message(err); got != want {
					s.Errorf("event %q, token %s: got %q, want %q", tt.event, kind, got, want)
				}
			}
		}
	})
}

// TestRevokedApart: of two tokens that are validated together, an event voids
// the one it names.
func TestRevokedApart(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		s.grant("ben", "project p2", "reader")
		caller, subject := s.token("ana", onP1), s.token("ben", onP2)
		for _, tt := range []struct {
			event           string
			caller, subject bool
		}{
			{"user_id " + s.ids["ana"], true, false},
			{"user_id " + s.ids["ben"], false, true},
			{"project_id p1", true, false},
			{"project_id p2", false, true},
			{"user_id " + s.ids["ana"] + ", project_id p2", false, false}, // each has one half
			{"audit_id " + caller.Token.AuditIDs[0], true, false},
			{"audit_id " + subject.Token.AuditIDs[0], false, true},
			{"role_id r-member", true, false},
		} {
			s.exec(`delete from revocation_event`)
			s.event(tt.event)
			r, err := s.auth.Validate(s.Context(), auth.Check{Caller: caller.ID, Subject: subject.ID})
			s.must(err)
			if dead := r.Caller == nil; dead != tt.caller || r.Refused != nil {
				s.Errorf("event %q: caller void %v, refused %v, want void %v", tt.event, dead, r.Refused, tt.caller)
			}
			if dead := r.Subject == nil; dead != tt.subject || dead != (message(r.SubjectErr) == "404 Failed to validate token") {
				s.Errorf("event %q: subject void %v (%v), want %v", tt.event, dead, r.SubjectErr, tt.subject)
			}
		}
	})
}

// TestRevoke voids a token at once, in the second it was issued in, and not
// its neighbours.
func TestRevoke(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		first, second := s.token("ana", onP1), s.token("ana", onP1)
		s.quiet()
		s.must(s.auth.Revoke(s.Context(), first, true))
		if s.db.Writes != 4 {
			s.Errorf("%d writes, want two events and a pruning with each", s.db.Writes)
		}
		if _, err := s.subject(first.ID); message(err) != "404 Failed to validate token" {
			s.Errorf("a revoked token: %q", message(err))
		}
		if _, err := s.try(byToken(first.ID, onP2)); message(err) != "404 Failed to validate token" {
			s.Errorf("a login with a revoked token: %q", message(err))
		}
		if _, err := s.subject(second.ID); err != nil {
			s.Errorf("another token of the user: %v", err)
		}
		first.Token.AuditIDs = nil
		if err := s.auth.Revoke(s.Context(), first, true); err == nil {
			s.Error("a token without an audit id was revoked: that would void every token")
		}
	})
}

// TestRevokeChain voids what was made from a token with it, unless asked not to.
func TestRevokeChain(t *testing.T) {
	for chain, want := range map[bool]string{true: "404 Failed to validate token", false: ""} {
		each(t, world{Config: auth.Config{RescopeScoped: true}}, func(s *stand) {
			first := s.token("ana", onP1)
			child, err := s.try(byToken(first.ID, onP2))
			s.must(err)
			grandchild, err := s.try(byToken(child.ID, onP1))
			s.must(err)
			s.must(s.auth.Revoke(s.Context(), first, chain))
			for name, id := range map[string]string{"child": child.ID, "grandchild": grandchild.ID} {
				if _, err := s.subject(id); message(err) != want {
					s.Errorf("chain %v: the %s: %q, want %q", chain, name, message(err), want)
				}
			}
		})
	}
}

// TestValidateDisabled: a token of a user who was disabled behind our back is
// void for good: he gets an event, as from Keystone 30.0.0.
func TestValidateDisabled(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		held := s.token("ana", onP1)
		enable := func(on bool) { s.exec(`update "user" set enabled = $1 where id = $2`, on, s.ids["ana"]) }
		enable(false)
		if _, err := s.subject(held.ID); message(err) != "404 Could not find token." {
			s.Errorf("disabled: %q", message(err))
		}
		enable(true)
		if _, err := s.subject(held.ID); message(err) != "404 Failed to validate token" {
			s.Errorf("enabled again: %q", message(err))
		}
	})
}

// TestRevokePrunes forgets events that no token can be older than.
func TestRevokePrunes(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.exec(`insert into revocation_event (user_id, issued_before, revoked_at) values ('old', $1, $1), ('young', $2, $2)`,
			noon.Add(-91*time.Minute), noon.Add(-89*time.Minute))
		s.must(s.auth.Revoke(s.Context(), s.token("ana", onP1), true))
		for user, want := range map[string]int64{"old": 0, "young": 1} {
			n, err := s.db.Exec(s.Context(), `delete from revocation_event where user_id = $1`, user)
			if s.must(err); n != want {
				s.Errorf("%d events of %s are left, want %d", n, user, want)
			}
		}
	})
}
