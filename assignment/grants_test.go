package assignment_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// on reads "u project leaf p*" as a grant: see stand.grant.
func on(text string) assignment.Grant {
	f := strings.Fields(text)
	g := assignment.Grant{Actor: assignment.Actor{ID: f[0], Group: f[0] == "g" || f[0] == "h"}}
	role, inherited := strings.CutSuffix(f[len(f)-1], "*")
	g.RoleID, g.Inherited = "id-"+role, inherited
	switch f[1] {
	case "project":
		g.ProjectID = f[2]
	case "domain":
		g.DomainID = f[2]
	}
	return g
}

// TestGive makes, finds and takes back each kind of grant, and nothing else.
func TestGive(t *testing.T) {
	each(t, func(s *stand) {
		grants, c := assignment.Grants{DB: s.db}, s.Context()
		all := []string{
			"u project leaf p", "g project leaf p", "u domain d p", "g domain d p", "u system p", "g system p",
			"u project leaf p*", "g project leaf p*", "u domain d p*", "g domain d p*",
			"u project d p", "u project leaf q", "v project leaf p", "u project mid p",
		}
		for i, text := range all {
			s.must(grants.Give(c, on(text)))
			s.must(grants.Give(c, on(text)))
			for j, other := range all {
				if err := grants.Check(c, on(other)); (err == nil) != (j <= i) || err != nil && !fault.Is(err, fault.NotFound) {
					s.Errorf("after %q: %q is %v", text, other, err)
				}
			}
		}
		for i, text := range all {
			s.must(grants.Take(c, on(text)))
			if err := grants.Take(c, on(text)); !fault.Is(err, fault.NotFound) {
				s.Errorf("%q is taken back twice: %v", text, err)
			}
			for j, other := range all {
				if err := grants.Check(c, on(other)); (err == nil) != (j > i) {
					s.Errorf("without %q: %q is %v", text, other, err)
				}
			}
		}
		if n := s.count(`select count(*) from revocation_event`); n != 0 {
			s.Errorf("%d revocation events, want none", n)
		}
	})
}

// TestGiveRefuses: a grant has all its parts, and a domain's role stays there.
func TestGiveRefuses(t *testing.T) {
	each(t, func(s *stand) {
		for text, want := range map[string]fault.Kind{
			"u project leaf none": fault.NotFound, "none project leaf p": fault.NotFound, "u project none p": fault.NotFound,
			"u domain none p": fault.NotFound, "u domain leaf p": fault.NotFound, "g system none": fault.NotFound, "none system p": fault.NotFound,
			"u project none p*": fault.NotFound, "none domain d p*": fault.NotFound, "u\x00 project leaf p": fault.NotFound,
			"u project far ds": fault.Forbidden, "u project d ds": fault.Forbidden, "u project far ds*": fault.Forbidden, "u system ds": fault.BadRequest,
			"u project leaf ds": 0, "u domain e ds": 0, "u domain e ds*": 0,
		} {
			err := assignment.Grants{DB: s.db}.Give(s.Context(), on(text))
			if want == 0 && err != nil || want != 0 && !fault.Is(err, want) {
				s.Errorf("%q: %v, want %d", text, err, want)
			}
		}
		if n := s.count(`select count(*) from assignment`) + s.count(`select count(*) from system_assignment`); n != 3 {
			s.Errorf("%d grants, want 3", n)
		}
	})
}

// TestGrantStatements: the statements do not grow with the grants.
func TestGrantStatements(t *testing.T) {
	each(t, func(s *stand) {
		counter := dbtest.Count(s, s.db)
		grants, c := assignment.Grants{DB: counter}, s.Context()
		cost := func(f func() error) [2]int {
			counter.Reset()
			s.must(f())
			return [2]int{counter.RoundTrips, counter.Statements}
		}
		list := func() error { _, err := grants.Roles(c, on("u project leaf p")); return err }
		before := cost(list)
		for _, role := range strings.Fields("p q a b c x y z") {
			s.must(grants.Give(c, on("u project leaf "+role)))
		}
		if after := cost(list); after != before || after != [2]int{1, 2} {
			s.Errorf("list: %v round trips and statements, then %v, want 1 and 2", before, after)
		}
		found, err := grants.Roles(c, on("u project leaf p"))
		if s.must(err); len(found) != 8 || found[0].ID != "id-a" {
			s.Errorf("%d roles: %v", len(found), found)
		}
		if got := cost(func() error { _, err := grants.Parties(c, on("u project leaf p")); return err }); got != [2]int{1, 7} {
			s.Errorf("parties: %v round trips and statements, want 1 and 7", got)
		}
		if got := cost(func() error { return grants.Take(c, on("u project leaf p")) }); got != [2]int{1, 1} {
			s.Errorf("take: %v round trips and statements, want 1 and 1", got)
		}
	})
}

// TestGiveBesideDeletes: no grant outlives what it names, and the same grant
// given and taken by many is there or not.
func TestGiveBesideDeletes(t *testing.T) {
	each(t, func(s *stand) {
		grants, c := assignment.Grants{DB: s.db}, s.Context()
		roles := assignment.Roles{DB: s.db}
		revoker := cascade.Revoker{Keep: time.Hour, Now: time.Now}
		projects := resource.Projects{DB: s.db, MaxDepth: 5, Revoker: revoker}
		var all sync.WaitGroup
		run := func(f func() error) {
			all.Go(func() {
				if err := f(); err != nil && !fault.Is(err, fault.NotFound) {
					s.Error(err)
				}
			})
		}
		for range 4 {
			run(func() error { return grants.Give(c, on("v project side z")) })
			run(func() error { return grants.Give(c, on("h project side q")) })
			run(func() error { return grants.Give(c, on("v domain d z*")) })
			run(func() error { return grants.Give(c, on("u project leaf p")) })
			run(func() error { return grants.Take(c, on("u project leaf p")) })
		}
		run(func() error { return roles.Delete(c, "id-z") })
		run(func() error {
			_, err := projects.Delete(c, "side")
			return err
		})
		run(func() error {
			return s.db.Tx(c, func(c db.Conn) error { return revoker.UserDeleted(s.Context(), c, "v") })
		})
		run(func() error {
			return s.db.Tx(c, func(c db.Conn) error { return revoker.GroupDeleted(s.Context(), c, "h") })
		})
		all.Wait()
		if n := s.count(`select count(*) from assignment where actor_id in ('v', 'h') or target_id = 'side' or role_id = 'id-z'`); n != 0 {
			s.Errorf("%d grants outlived what they name", n)
		}
	})
}
