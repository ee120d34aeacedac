package auth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/resource"
)

// validate judges the tokens of a request.
func (s *stand) validate(c auth.Check) auth.Result {
	s.Helper()
	r, err := s.auth.Validate(s.Context(), c)
	s.must(err)
	return r
}

// TestValidate404 mends a token that everything is wrong with, one thing after
// another: each time the first that is still wrong gives the answer
// (keystone/token/provider.py validate_token). As the caller's, what is gone or
// disabled is answered at once, and what is stale makes him anonymous.
func TestValidate404(t *testing.T) {
	const px, dx, dy, ux = "px", "d0000000000000000000000000000001", "d0000000000000000000000000000002", "ux"
	eachWay(t, world{}, func(s *stand) {
		c := s.Context()
		id := s.forge(token.Token{UserID: ux, ProjectID: px})
		s.must(resource.CreateDomain(c, s.db, resource.Domain{ID: dx, Name: "dx"}))
		s.must(resource.CreateDomain(c, s.db, resource.Domain{ID: dy, Name: "dy"}))
		s.event("user_id " + ux)
		s.clock = noon.Add(time.Hour)
		const stale = "404 Failed to validate token"
		for _, step := range []struct {
			want   string
			caller bool // answered at once as the caller's
			mend   func()
		}{
			{"404 Could not find project: px.", true, func() {
				s.must(resource.CreateProject(c, s.db, resource.Project{ID: px, Name: px, DomainID: dx}))
			}},
			{"404 Unable to validate token because project px is disabled", true, func() { s.exec(`update project set enabled = $1 where id = $2`, true, px) }},
			{"404 Unable to validate token because domain " + dx + " is disabled", true, func() { s.exec(`update project set enabled = $1 where id = $2`, true, dx) }},
			{"404 Could not find user: ux.", true, func() {
				s.exec(`insert into "user" (id, extra, enabled, domain_id) values ($1, '{}', $2, 'gone')`, ux, false)
			}},
			{"404 Could not find domain: gone.", true, func() { s.exec(`update "user" set domain_id = $1`, dy) }},
			{"404 Unable to validate token because domain " + dy + " is disabled", true, func() { s.exec(`update project set enabled = $1 where id = $2`, true, dy) }},
			{"404 Could not find token.", false, func() {
				s.must(assignment.GrantOnProject(c, s.db, assignment.Actor{ID: ux}, px, "r-reader", false))
			}},
			{stale, false, func() { s.clock = noon.Add(time.Hour - time.Second) }}, // expired
			{stale, false, func() { s.exec(`delete from revocation_event`) }},
			{"404 Could not find token.", false, func() { s.exec(`update "user" set enabled = $1 where id = $2`, true, ux) }},
			{stale, false, func() { s.exec(`delete from revocation_event`) }}, // that he was met disabled stays
			{"", false, func() {}},
		} {
			if _, err := s.subject(id); message(err) != step.want {
				s.Errorf("subject: got %q, want %q", message(err), step.want)
			}
			r := s.validate(auth.Check{Caller: id})
			switch {
			case step.caller && (message(r.Refused) != step.want || r.Caller != nil):
				s.Errorf("caller: got %v, %v, want %q at once", r.Caller, r.Refused, step.want)
			case !step.caller && (r.Refused != nil || (r.Caller == nil) != (step.want != "")):
				s.Errorf("caller (subject: %q): got %v, refused %v", step.want, r.Caller, r.Refused)
			}
			step.mend()
		}
	})
}

// TestValidateCapitalHex is a user whose id has 32 hexadecimal digits with
// capitals, as no release of Keystone makes them: the token holds sixteen bytes,
// and what comes out of them names nobody, on MariaDB too, which finds his row.
func TestValidateCapitalHex(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		c := s.Context()
		for id, want := range map[string]string{
			"0123456789abcdef0123456789abcdef": "",
			"FEDCBA9876543210FEDCBA9876543210": "404 Could not find user: fedcba9876543210fedcba9876543210.",
		} {
			s.exec(`insert into "user" (id, extra, enabled, domain_id) values ($1, '{}', $2, $3)`, id, true, far)
			s.must(assignment.GrantOnDomain(c, s.db, assignment.Actor{ID: id}, far, "r-reader", false))
			if _, err := s.subject(s.forge(token.Token{UserID: id, DomainID: far})); message(err) != want {
				s.Errorf("%s: got %q, want %q", id, message(err), want)
			}
		}
	})
}

// TestValidateDomain404 is a domain that is gone or disabled, and one that is
// none.
func TestValidateDomain404(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		id := s.forge(token.Token{UserID: s.ids["ana"], DomainID: far})
		if _, err := s.subject(id); err != nil {
			s.Errorf("domain far: %v", err)
		}
		for want, text := range map[string]string{
			"404 Unable to validate token because domain " + far + " is disabled": `update project set enabled = $1 where id = '` + far + `'`,
			"404 Could not find domain: " + far + ".":                             `update project set is_domain = $1 where id = '` + far + `'`,
		} {
			s.exec(text, false)
			if _, err := s.subject(id); message(err) != want {
				s.Errorf("%s: got %q, want %q", text, message(err), want)
			}
			s.exec(text, true)
		}
	})
}

// TestValidateIdle: a user who is idle for too long is disabled, live.
func TestValidateIdle(t *testing.T) {
	eachWay(t, world{Config: auth.Config{IdleDays: ptr(1)}}, func(s *stand) {
		id := s.token("ana", onP1).ID
		s.exec(`update "user" set last_active_at = $1`, "2026-11-29")
		if _, err := s.subject(id); message(err) != "404 Could not find token." {
			s.Errorf("user idle for too long: %q", message(err))
		}
		s.exec(`delete from revocation_event`)
		s.exec(`insert into user_option (user_id, option_id, option_value) values ($1, '1004', 'true')`, s.ids["ana"])
		if _, err := s.subject(id); err != nil {
			s.Errorf("exempt: %v", err)
		}
	})
}

// TestValidateRevives: what is decided from live rows dies and lives with them.
func TestValidateRevives(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		id := s.token("ana", onP1).ID
		s.exec(`delete from assignment`)
		if _, err := s.subject(id); message(err) != "404 Could not find token." {
			s.Errorf("no role left: %q", message(err))
		}
		s.grant("ana", "project p1", "admin")
		got, err := s.subject(id)
		if s.must(err); len(got.Roles) != 3 {
			s.Errorf("another role granted: roles %v", got.Roles)
		}
		s.update("ana", identity.Change{Enabled: ptr(false)})
		s.update("ana", identity.Change{Enabled: ptr(true)})
		if _, err := s.subject(id); message(err) != "404 Failed to validate token" {
			s.Errorf("disabled and enabled again: %q", message(err))
		}
	})
}

// TestAllowExpired lets the subject, and him alone, be past his life by less
// than the window.
func TestAllowExpired(t *testing.T) {
	eachWay(t, world{}, func(s *stand) {
		held := s.token("ana", onP1)
		end := held.Token.ExpiresAt
		if want := noon.Truncate(time.Second).Add(time.Hour); !end.Equal(want) {
			s.Fatalf("the token expires at %v, want %v", end, want)
		}
		for _, tt := range []struct {
			at             time.Time
			plain, allowed bool // good without and with allow_expired
		}{
			{end.Add(-time.Nanosecond), true, true},
			{end, false, true},
			{end.Add(48*time.Hour - time.Nanosecond), false, true},
			{end.Add(48 * time.Hour), false, false},
		} {
			s.clock = tt.at
			for _, allow := range []bool{false, true} {
				r := s.validate(auth.Check{Caller: held.ID, Subject: held.ID, AllowExpired: allow})
				want := tt.plain
				if allow {
					want = tt.allowed
				}
				if good := r.Subject != nil; good != want || !good && message(r.SubjectErr) != "404 Failed to validate token" {
					s.Errorf("at %v, allow_expired %v: subject good is %v (%v), want %v", tt.at.Sub(end), allow, good, r.SubjectErr, want)
				}
				if good := r.Caller != nil; good != tt.plain || r.Refused != nil {
					s.Errorf("at %v, allow_expired %v: caller good is %v", tt.at.Sub(end), allow, good)
				}
			}
		}
	})
}

// TestValidateNothing asks no database about what is no token.
func TestValidateNothing(t *testing.T) {
	each(t, world{Config: auth.Config{AdminToken: "sesame"}}, func(s *stand) {
		s.quiet()
		for subject, want := range map[string]string{
			"": "404 No token in the request", "garbage": "404 Could not recognize Fernet token",
			strings.Repeat("gAAAAA", 50): "404 Could not recognize Fernet token", "sesame": "404 Could not recognize Fernet token",
		} {
			r := s.validate(auth.Check{Caller: "garbage", Subject: subject})
			if r.Caller != nil || r.Refused != nil || r.Subject != nil || message(r.SubjectErr) != want {
				s.Errorf("subject %q: got %+v (%q), want %q", subject, r, message(r.SubjectErr), want)
			}
		}
		if r := s.validate(auth.Check{Caller: "sesame"}); r.Caller == nil || !r.Caller.AdminToken {
			s.Error("[DEFAULT] admin_token is not taken")
		}
		for _, no := range []string{"sesam", "sesame ", ""} {
			if r := s.validate(auth.Check{Caller: no}); r.Caller != nil {
				s.Errorf("%q was taken for the admin token", no)
			}
		}
		if s.db.RoundTrips != 0 {
			s.Errorf("%d round trips for tokens that are none", s.db.RoundTrips)
		}
	})
}

// TestSignatureToken: one gained from an EC2 signature, or one that does not
// say how it was gained, may be validated and nothing else.
func TestSignatureToken(t *testing.T) {
	for name, methods := range map[string][]string{
		"not in the list": {"password", "token"}, "in the list": {"password", "token", "ec2credential"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, world{Config: auth.Config{Methods: methods}}, func(s *stand) {
				id := s.forge(token.Token{UserID: s.ids["ana"], ProjectID: "p1", Methods: []string{"ec2credential"}})
				if r := s.validate(auth.Check{Caller: id}); r.Caller != nil || !strings.HasPrefix(message(r.Refused), "403 ") {
					s.Errorf("as the caller's: got %v, %q, want a 403", r.Caller, message(r.Refused))
				}
				r := s.validate(auth.Check{Caller: s.token("ana", onP1).ID, Subject: id})
				if r.SubjectErr != nil || r.Subject.User.Name != "ana" {
					s.Errorf("as the subject: %v", r.SubjectErr)
				}
				if _, err := s.try(byToken(id, onP2)); !strings.HasPrefix(message(err), "403 ") {
					s.Errorf("exchanged for another: got %q, want a 403", message(err))
				}
			})
		})
	}
}

// TestUnserved: tokens of kinds that cannot be judged are as unknown ones.
func TestUnserved(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for kind, x := range map[string]token.Token{
			"trust":                  {ProjectID: "p1", TrustID: "aa000000000000000000000000000001"},
			"application credential": {ProjectID: "p1", AppCredID: "ac"},
			"OAuth":                  {ProjectID: "p1", AccessTokenID: "at"},
			"certificate":            {ProjectID: "p1", Thumbprint: "dGVzdA=="},
			"federated":              {ProjectID: "p1", Federated: true, IDPID: "idp", ProtocolID: "openid", GroupIDs: []string{"g"}},
		} {
			x.UserID = s.ids["ana"]
			id := s.forge(x)
			r := s.validate(auth.Check{Caller: id, Subject: id})
			if r.Caller != nil || r.Subject != nil || message(r.SubjectErr) != "404 Failed to validate token" {
				s.Errorf("%s: caller %v, subject %v, %q", kind, r.Caller, r.Subject, message(r.SubjectErr))
			}
		}
	})
}

// TestValidateMethods keeps what a token says about itself.
func TestValidateMethods(t *testing.T) {
	each(t, world{}, func(s *stand) {
		got, err := s.subject(s.forge(token.Token{UserID: s.ids["ana"], Methods: []string{"password", "totp"}, AuditIDs: []string{own, parent}}))
		s.must(err)
		if !slices.Equal(got.Token.Methods, []string{"totp", "password"}) || !slices.Equal(got.Token.AuditIDs, []string{own, parent}) {
			s.Errorf("methods %v, audit ids %v", got.Token.Methods, got.Token.AuditIDs)
		}
	})
}
