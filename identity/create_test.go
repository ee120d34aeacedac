package identity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// TestCreateRows looks at every column that Python will read.
func TestCreateRows(t *testing.T) {
	each(t, func(s *stand) {
		v, err := s.users.Create(s.Context(), "d", identity.Change{
			Name: ptr(" \tana \n"), Password: ptr(ptr("secret")), DefaultProject: ptr(ptr("p")),
			Options: map[string]*string{identity.OptionLockPassword: ptr("true"), identity.OptionMFARules: nil},
			Extra:   pyjson.Object{{Key: "email", Value: "zoë@x"}, {Key: "description", Value: nil}, {Key: "n", Value: []any{true, "a"}}},
		})
		s.must(err)
		id := v.Account.ID
		if id != "00000000000000000000000000000001" || v.Account.Name != "ana" || v.Account.DomainID != "d" || !v.Account.Enabled || v.Account.DefaultProjectID != "p" {
			s.Errorf("Create gives %+v", v.Account)
		}
		if diff := cmp.Diff(identity.Options{identity.OptionLockPassword: "true"}, v.Options); diff != "" {
			s.Errorf("options: want -, got +\n%s", diff)
		}
		if got, want := one[string](s, `select extra from "user" where id = $1`, id), `{"email": "zo\u00eb@x", "description": null, "n": [true, "a"]}`; got != want {
			s.Errorf("extra = %s, want %s", got, want)
		}
		if got := one[*time.Time](s, `select created_at from "user" where id = $1`, id); got == nil || !got.Equal(dbtest.Kept(s.db, noon)) {
			s.Errorf("created_at = %v, want %v", got, noon)
		}
		if got := one[*time.Time](s, `select last_active_at from "user" where id = $1`, id); got != nil {
			s.Errorf("last_active_at = %v without the inactivity rule, want null", got)
		}
		want := []passwordRow{{Hash: ptr("plain:secret"), Created: dbtest.Kept(s.db, noon), CreatedInt: noon.UnixMicro()}}
		if diff := cmp.Diff(want, s.passwords(id)); diff != "" {
			s.Errorf("password rows: want -, got +\n%s", diff)
		}
		if got := s.events(); len(got) != 0 {
			s.Errorf("creating a user revoked the tokens of %v", got)
		}
	})
}

// TestCreateVariants are users without a password, disabled, or without extra.
func TestCreateVariants(t *testing.T) {
	each(t, func(s *stand) {
		bare, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("bare")})
		s.must(err)
		if rows := s.passwords(bare.Account.ID); len(rows) != 0 {
			s.Errorf("no password given: got rows %v", rows)
		}
		if got := one[string](s, `select extra from "user" where id = $1`, bare.Account.ID); got != "{}" {
			s.Errorf("extra of a bare user = %q, want {}: Python fails on NULL", got)
		}
		null, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("null"), Password: ptr[*string](nil), Enabled: ptr(false)})
		s.must(err)
		if rows := s.passwords(null.Account.ID); len(rows) != 1 || rows[0].Hash != nil {
			s.Errorf("password null: got rows %v, want one without a hash", rows)
		}
		if null.Account.Enabled {
			s.Error("created with enabled false: is enabled")
		}
		s.users.IdleDays = ptr(10)
		idle, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("idle")})
		s.must(err)
		if got := idle.Account.LastActiveAt; got == nil || !got.Equal(noon.Truncate(24*time.Hour)) {
			s.Errorf("last_active_at under the inactivity rule = %v, want today", got)
		}
	})
}

// TestCreateRefused leaves no row behind.
func TestCreateRefused(t *testing.T) {
	each(t, func(s *stand) {
		s.must(resource.CreateProject(s.Context(), s.db, resource.Project{ID: "p", Name: "p", DomainID: "d", Enabled: true}))
		s.must(resource.CreateProject(s.Context(), s.db, resource.Project{ID: "asdomain", Name: "as", DomainID: resource.RootDomainID, Enabled: true, IsDomain: true}))
		s.create("ana")
		for _, tt := range []struct {
			name string
			ch   identity.Change
			want string
		}{
			{"same name", identity.Change{Name: ptr("ana")}, "409 Conflict occurred attempting to store user - Duplicate entry found with name ana at domain ID d."},
			{"same name, blanks", identity.Change{Name: ptr(" ana ")}, "409 Conflict occurred attempting to store user - Duplicate entry found with name ana at domain ID d."},
			{"domain as default project", identity.Change{Name: ptr("b"), DefaultProject: ptr(ptr("d"))}, "400 User's default project ID cannot be a domain ID: d"},
			{"project acting as a domain", identity.Change{Name: ptr("b"), DefaultProject: ptr(ptr("asdomain"))}, "400 User's default project ID cannot be a domain ID: asdomain"},
			{"no name", identity.Change{}, "400 Invalid input for field 'name': the value must not be blank"},
			{"blank name", identity.Change{Name: ptr(" \t\n ")}, "400 Invalid input for field 'name': the value must not be blank"},
			{"name with a NUL", identity.Change{Name: ptr("a\x00b")}, "400 Invalid input for field 'name': the value must not hold a NUL"},
		} {
			if _, err := s.users.Create(s.Context(), "d", tt.ch); message(err) != tt.want {
				s.Errorf("%s: got %q, want %q", tt.name, message(err), tt.want)
			}
		}
		if got := s.count(`select count(*) from "user"`); got != 1 {
			s.Errorf("%d users after refusals, want 1", got)
		}
		for _, ch := range []identity.Change{
			{Name: ptr(dbtest.Apart(s.db, "Ana", "anna"))}, // another letter case is another name
			{Name: ptr("b"), DefaultProject: ptr(ptr("p"))},
			{Name: ptr("c"), DefaultProject: ptr(ptr("no such project"))},
			{Name: ptr("e"), DefaultProject: ptr[*string](nil)},
		} {
			if _, err := s.users.Create(s.Context(), "d", ch); err != nil {
				s.Errorf("create %s: %v", *ch.Name, err)
			}
		}
		s.domain("e", "E", true)
		if _, err := s.users.Create(s.Context(), "e", identity.Change{Name: ptr("ana")}); err != nil {
			s.Errorf("the same name in another domain: %v", err)
		}
	})
}
