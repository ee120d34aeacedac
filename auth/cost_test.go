package auth_test

import (
	"fmt"
	"testing"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// cost is what a call asked of the database.
type cost struct{ trips, statements, writes int }

func (s *stand) cost(f func()) cost {
	s.Helper()
	s.quiet()
	f()
	return cost{s.db.RoundTrips, s.db.Statements, s.db.Writes}
}

// crowd puts many rows of every kind beside the few: roles, groups, nested
// projects, options, passwords, events, services, endpoints, providers.
func (s *stand) crowd() {
	s.Helper()
	c := s.Context()
	s.must(s.db.Tx(c, func(tx db.Conn) error {
		var b db.Batch
		for i := range 60 {
			n := fmt.Sprintf("n%02d", i)
			for _, err := range []error{
				assignment.CreateRole(c, tx, assignment.Role{ID: n, Name: n}, false),
				identity.CreateGroup(c, tx, identity.Group{ID: n, Name: n, DomainID: "default"}),
				identity.AddToGroup(c, tx, s.ids["ana"], n),
				assignment.GrantOnProject(c, tx, assignment.Actor{ID: n, Group: true}, "p1", n, false),
				assignment.GrantOnDomain(c, tx, assignment.Actor{ID: n, Group: true}, far, n, false),
				assignment.GrantOnSystem(c, tx, assignment.Actor{ID: n, Group: true}, n),
				catalog.CreateService(c, tx, catalog.Service{ID: n, Type: new(n), Enabled: true}),
				catalog.CreateEndpoint(c, tx, catalog.Endpoint{ID: n, ServiceID: n, Interface: "public", URL: "https://" + n, Enabled: true}),
			} {
				if err != nil {
					return err
				}
			}
			parent := "p1child"
			if i > 0 {
				parent = fmt.Sprintf("n%02d", i-1)
			}
			if err := resource.CreateProject(c, tx, resource.Project{ID: n, Name: n, DomainID: "default", ParentID: parent, Enabled: true}); err != nil {
				return err
			}
			b.Exec(`insert into service_provider (id, auth_url, sp_url, enabled, relay_state_prefix) values ($1, $1, $1, $2, '')`, n, true)
			b.Exec(`insert into revocation_event (user_id, project_id, issued_before, revoked_at) values ($1, $2, $3, $3)`, s.ids["ana"], n, noon)
		}
		return tx.Send(c, &b)
	}))
}

// TestValidateCost: caller and subject of every pair of scopes cost one round
// trip of at most 9 statements, however many rows there are.
func TestValidateCost(t *testing.T) {
	each(t, world{}, func(s *stand) {
		held := map[string]string{}
		for name, scope := range map[string]string{"unscoped": unscoped, "project": onP1, "domain": onFar, "system": onSystem} {
			held[name] = s.token("ana", scope).ID
		}
		checks := map[string]auth.Check{}
		for a, caller := range held {
			checks[a] = auth.Check{Caller: caller}
			checks["subject "+a] = auth.Check{Subject: caller, Catalog: true}
			for b, subject := range held {
				checks[a+" asks about "+b] = auth.Check{Caller: caller, Subject: subject, Catalog: true}
			}
		}
		few := map[string]cost{}
		for name, check := range checks {
			few[name] = s.cost(func() { s.validate(check) })
		}
		s.crowd()
		for name, check := range checks {
			var r auth.Result
			many := s.cost(func() { r = s.validate(check) })
			if r.Refused != nil || check.Caller != "" && r.Caller == nil || check.Subject != "" && r.Subject == nil {
				s.Errorf("%s: %+v", name, r)
			}
			if many != few[name] || many.trips != 1 || many.statements > 9 || many.writes != 0 {
				s.Errorf("%s: %+v with few rows, %+v with many, want one trip of at most 9 statements", name, few[name], many)
			}
		}
	})
}

// TestValidateSelf reads a token that asks about itself once.
func TestValidateSelf(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for _, scope := range []string{unscoped, onP1, onFar, onSystem} {
			id := s.token("ana", scope).ID
			once := s.cost(func() { s.validate(auth.Check{Subject: id, Catalog: true}) })
			var r auth.Result
			twice := s.cost(func() { r = s.validate(auth.Check{Caller: id, Subject: id, Catalog: true}) })
			if r.Caller == nil || r.Subject == nil || r.Caller.User.ID != s.ids["ana"] || r.Subject.User.ID != s.ids["ana"] {
				s.Errorf("scope %s: %+v", scope, r)
			}
			if once != twice {
				s.Errorf("scope %s: %+v alone, %+v about itself", scope, once, twice)
			}
		}
	})
}

// TestCatalogRead is read for whom it is wanted alone.
func TestCatalogRead(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.must(catalog.CreateService(s.Context(), s.db, catalog.Service{ID: "s", Type: new("identity"), Enabled: true}))
		caller, subject := s.token("ana", onP1).ID, s.token("ana", onP2).ID
		for _, tt := range []struct {
			check           auth.Check
			caller, subject bool
		}{
			{auth.Check{}, false, false},
			{auth.Check{Catalog: true}, false, true},
			{auth.Check{CallerFull: true}, true, false},
			{auth.Check{Catalog: true, CallerFull: true}, true, true},
		} {
			tt.check.Caller, tt.check.Subject = caller, subject
			r := s.validate(tt.check)
			want := pyjson.Raw(`[{"endpoints": [], "id": "s", "type": "identity", "name": ""}]`)
			if (r.Caller.Catalog == want) != tt.caller || (r.Subject.Catalog == want) != tt.subject {
				s.Errorf("%+v: caller's catalog %s, subject's %s", tt.check, r.Caller.Catalog, r.Subject.Catalog)
			}
		}
		if r := s.validate(auth.Check{Subject: s.token("ana", unscoped).ID, Catalog: true}); r.Subject.Catalog != "" {
			s.Error("an unscoped token has a catalog")
		}
	})
}

// TestLoginCost: two round trips for a user who was there today, whatever the
// scope and however many rows there are.
func TestLoginCost(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.update("ana", identity.Change{DefaultProject: ptr(ptr("p1"))})
		first := s.token("ana", unscoped)
		texts := map[string]string{"token": byToken(first.ID, onP1)}
		for name, scope := range map[string]string{"unscoped": unscoped, "project": onP1, "domain": onFar, "system": onSystem, "default": ""} {
			texts[name] = byPassword(s.ids["ana"], "ana", scope)
		}
		try := func(text string) func() {
			return func() {
				if _, err := s.try(text); err != nil {
					s.Errorf("%s: %v", text, err)
				}
			}
		}
		few := map[string]cost{}
		for name, text := range texts {
			few[name] = s.cost(try(text))
		}
		s.crowd()
		for name, text := range texts {
			if many := s.cost(try(text)); many != few[name] || many.trips != 2 || many.writes != 0 {
				s.Errorf("login %s: %+v with few rows, %+v with many, want 2 trips", name, few[name], many)
			}
		}
	})
}
