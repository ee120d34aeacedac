package identity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// failed stores so many failed logins of a user.
func (s *stand) failed(id string, n int) {
	s.Helper()
	s.exec(`update local_user set failed_auth_count = $1, failed_auth_at = $2 where user_id = $3`, n, noon, id)
}

// TestUpdateClearsFailures: any change of an enabled user lifts a lock.
func TestUpdateClearsFailures(t *testing.T) {
	each(t, func(s *stand) {
		v := s.create("ana")
		ben := s.create("ben")
		s.failed(ben.Account.ID, 7)
		for name, ch := range map[string]identity.Change{
			"nothing": {}, "extra": {Extra: pyjson.Object{{Key: "email", Value: "x"}}}, "enabled": {Enabled: ptr(true)},
			"password": {Password: ptr(ptr("new"))}, "name": {Name: ptr("anna")}, "option": {Options: map[string]*string{"1003": ptr("true")}},
		} {
			s.failed(v.Account.ID, 5)
			if got := s.update(v.Account.ID, ch).Account; got.FailedAuthCount != 0 || got.FailedAuthAt != nil {
				s.Errorf("update of %s: %d failures at %v are left", name, got.FailedAuthCount, got.FailedAuthAt)
			}
		}
		s.update(v.Account.ID, identity.Change{Enabled: ptr(false)})
		s.failed(v.Account.ID, 5)
		if got := s.update(v.Account.ID, identity.Change{Name: ptr("ann")}).Account; got.FailedAuthCount != 5 || got.FailedAuthAt == nil {
			s.Errorf("update of a disabled user: failures became %d at %v", got.FailedAuthCount, got.FailedAuthAt)
		}
		if got := s.update(v.Account.ID, identity.Change{Enabled: ptr(true)}).Account; got.FailedAuthCount != 0 {
			s.Errorf("enabling a user: %d failures are left", got.FailedAuthCount)
		}
		if got := s.get(ben.Account.ID).Account; got.FailedAuthCount != 7 {
			s.Errorf("another user has %d failures, had 7", got.FailedAuthCount)
		}
	})
}

// TestUpdateEvents: disabling and a new password revoke the user's tokens;
// nothing else does.
func TestUpdateEvents(t *testing.T) {
	each(t, func(s *stand) {
		id := s.create("ana").Account.ID
		for _, step := range []struct {
			name string
			ch   identity.Change
			want int
		}{
			{"enable the enabled", identity.Change{Enabled: ptr(true)}, 0},
			{"name", identity.Change{Name: ptr("anna")}, 0},
			{"extra, options", identity.Change{Extra: pyjson.Object{{Key: "a", Value: 1}}, Options: map[string]*string{"1003": ptr("true")}}, 0},
			{"password null", identity.Change{Password: ptr[*string](nil)}, 0},
			{"password", identity.Change{Password: ptr(ptr("x"))}, 1},
			{"disable", identity.Change{Enabled: ptr(false)}, 1},
			{"disable the disabled", identity.Change{Enabled: ptr(false)}, 0},
			{"password of the disabled", identity.Change{Password: ptr(ptr("y"))}, 1},
			{"enable", identity.Change{Enabled: ptr(true)}, 0},
			{"disable with a password", identity.Change{Enabled: ptr(false), Password: ptr(ptr("z"))}, 1},
		} {
			s.exec(`delete from revocation_event`)
			s.update(id, step.ch)
			got := s.events()
			if len(got) != step.want || len(got) == 1 && got[0] != id {
				s.Errorf("%s: events of %v, want %d", step.name, got, step.want)
			}
		}
		issued := one[time.Time](s, `select issued_before from revocation_event`)
		revoked := one[time.Time](s, `select revoked_at from revocation_event`)
		if want := noon.Truncate(time.Second); !issued.Equal(want) || !revoked.Equal(want) {
			s.Errorf("event: issued_before %v, revoked_at %v, want %v: whole seconds", issued, revoked, want)
		}
	})
}

// TestDisableRemoves takes the user's application credentials and access rules,
// and nobody else's.
func TestDisableRemoves(t *testing.T) {
	each(t, func(s *stand) {
		ana, ben := s.create("ana").Account.ID, s.create("ben").Account.ID
		s.exec(`insert into role (id, name, extra, domain_id) values ('r', 'r', '{}', '<<null>>')`)
		for i, id := range []string{ana, ben} {
			n := int64(i + 1)
			s.exec(`insert into application_credential (internal_id, id, name, secret_hash, user_id, project_id) values ($1, $2, 'ac', 'h', $2, 'p')`, n, id)
			s.exec(`insert into access_rule (id, service, path, method, external_id, user_id) values ($1, 'compute', '/', 'GET', $2, $2)`, n, id)
			s.exec(`insert into application_credential_access_rule (application_credential_id, access_rule_id) values ($1, $1)`, n)
			s.exec(`insert into application_credential_role (application_credential_id, role_id) values ($1, 'r')`, n)
		}
		left := func(want int64) {
			s.Helper()
			for _, table := range []string{"application_credential", "access_rule", "application_credential_access_rule", "application_credential_role"} {
				if got := s.count(`select count(*) from ` + table); got != want {
					s.Errorf("%d rows in %s, want %d", got, table, want)
				}
			}
		}
		s.update(ana, identity.Change{Password: ptr(ptr("x")), Enabled: ptr(true)})
		left(2)
		s.update(ana, identity.Change{Enabled: ptr(false)})
		left(1)
		if got := s.count(`select count(*) from application_credential where user_id = $1`, ben); got != 1 {
			s.Error("another user's application credential is gone")
		}
	})
}

// TestUpdateName refuses a taken name and changes nothing then.
func TestUpdateName(t *testing.T) {
	each(t, func(s *stand) {
		s.create("ben")
		v := s.create("ana")
		_, err := s.users.Update(s.Context(), v, identity.Change{
			Name: ptr("ben"), Password: ptr(ptr("new")), Enabled: ptr(false), Options: map[string]*string{"1003": ptr("true")},
		})
		if want := "409 Conflict occurred attempting to store user - Duplicate entry found with name ben."; message(err) != want {
			s.Errorf("rename to a taken name: got %q, want %q", message(err), want)
		}
		if diff := cmp.Diff(v, s.get(v.Account.ID)); diff != "" {
			s.Errorf("a refused update left: was -, is +\n%s", diff)
		}
		if got := s.events(); len(got) != 0 {
			s.Errorf("a refused update revoked the tokens of %v", got)
		}
		for _, name := range []string{"ana", " ana ", "Ana", dbtest.Apart(s.db, "Ben", "benn"), "zoë"} {
			want := name
			if name == " ana " {
				want = "ana"
			}
			if got := s.update(v.Account.ID, identity.Change{Name: &name}).Account.Name; got != want {
				s.Errorf("rename to %q gives %q", name, got)
			}
		}
		if _, err := s.users.Update(s.Context(), v, identity.Change{Name: ptr("  ")}); message(err) != "400 Invalid input for field 'name': the value must not be blank" {
			s.Errorf("blank name: got %q", message(err))
		}
	})
}

// TestUpdateExtra keeps what is not named, in its order, and nulls.
func TestUpdateExtra(t *testing.T) {
	each(t, func(s *stand) {
		v, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("ana"), Extra: pyjson.Object{{Key: "b", Value: "1"}, {Key: "a", Value: nil}}})
		s.must(err)
		s.update(v.Account.ID, identity.Change{Extra: pyjson.Object{{Key: "c", Value: nil}, {Key: "b", Value: "日本"}}})
		if got, want := one[string](s, `select extra from "user" where id = $1`, v.Account.ID), `{"b": "\u65e5\u672c", "a": null, "c": null}`; got != want {
			s.Errorf("extra = %s, want %s", got, want)
		}
		before := s.get(v.Account.ID)
		was := pyjson.Encode(before.Extra)
		_, err = s.users.Update(s.Context(), before, identity.Change{Extra: pyjson.Object{{Key: "b", Value: "2"}}})
		if s.must(err); pyjson.Encode(before.Extra) != was {
			s.Errorf("Update changed the view it was given: %s", pyjson.Encode(before.Extra))
		}
		s.exec(`update "user" set extra = $1 where id = $2`, nil, v.Account.ID)
		s.update(v.Account.ID, identity.Change{})
		if got := one[string](s, `select extra from "user" where id = $1`, v.Account.ID); got != "{}" {
			s.Errorf("extra NULL becomes %q on an update, want {}", got)
		}
	})
}

// TestUpdateOptions: null deletes, absent stays, and what no release knows goes.
func TestUpdateOptions(t *testing.T) {
	each(t, func(s *stand) {
		v, err := s.users.Create(s.Context(), "d", identity.Change{Name: ptr("ana"), Options: map[string]*string{"1000": ptr("true"), "1003": ptr("true")}})
		s.must(err)
		s.exec(`insert into user_option (user_id, option_id, option_value) values ($1, '9999', 'true')`, v.Account.ID)
		s.create("ben")
		for _, step := range []struct {
			set  map[string]*string
			want identity.Options
		}{
			{nil, identity.Options{"1000": "true", "1003": "true"}},
			{map[string]*string{"1003": nil, "1004": nil}, identity.Options{"1000": "true"}},
			{map[string]*string{"1000": ptr("false"), "MFAR": ptr(`[["password"]]`)}, identity.Options{"1000": "false", "MFAR": `[["password"]]`}},
		} {
			if diff := cmp.Diff(step.want, s.update(v.Account.ID, identity.Change{Options: step.set}).Options); diff != "" {
				s.Errorf("set %v: want -, got +\n%s", step.set, diff)
			}
		}
	})
}

// TestUpdateDefaultProject sets, keeps and clears it.
func TestUpdateDefaultProject(t *testing.T) {
	each(t, func(s *stand) {
		s.must(resource.CreateProject(s.Context(), s.db, resource.Project{ID: "p", Name: "p", DomainID: "d", Enabled: true}))
		v := s.create("ana")
		for _, step := range []struct {
			ch   identity.Change
			want string
		}{
			{identity.Change{DefaultProject: ptr(ptr("p"))}, "p"},
			{identity.Change{Name: ptr("anna")}, "p"},
			{identity.Change{DefaultProject: ptr(ptr("gone"))}, "gone"},
			{identity.Change{DefaultProject: ptr[*string](nil)}, ""},
		} {
			if got := s.update(v.Account.ID, step.ch).Account.DefaultProjectID; got != step.want {
				s.Errorf("default project is %q, want %q", got, step.want)
			}
		}
		if got := one[*string](s, `select default_project_id from "user" where id = $1`, v.Account.ID); got != nil {
			s.Errorf("no default project is stored as %q, want null", *got)
		}
		_, err := s.users.Update(s.Context(), v, identity.Change{DefaultProject: ptr(ptr("d"))})
		if want := "400 User's default project ID cannot be a domain ID: d"; message(err) != want {
			s.Errorf("a domain: got %q, want %q", message(err), want)
		}
	})
}

// TestUpdateIdle: under the inactivity rule an update of an active user counts
// as a sign of life; of one who sleeps too long it does not wake him, only
// enabling does.
func TestUpdateIdle(t *testing.T) {
	each(t, func(s *stand) {
		s.users.IdleDays = ptr(10)
		today := noon.Truncate(24 * time.Hour)
		seen := func(id string, days int) {
			s.exec(`update "user" set last_active_at = $1, enabled = $2 where id = $3`, noon.AddDate(0, 0, -days).Format(time.DateOnly), true, id)
		}
		id := s.create("ana").Account.ID
		seen(id, 9)
		if a := s.update(id, identity.Change{Name: ptr("anna")}).Account; a.LastActiveAt == nil || !a.LastActiveAt.Equal(today) {
			s.Errorf("update of an active user: last active at %v, want today", a.LastActiveAt)
		}
		seen(id, 10)
		if a := s.update(id, identity.Change{Name: ptr("ann")}).Account; a.Active(noon, ptr(10)) || a.Enabled {
			s.Errorf("renaming woke a user who is idle for too long: %+v", a)
		}
		if a := s.update(id, identity.Change{Enabled: ptr(true)}).Account; !a.Active(noon, ptr(10)) {
			s.Errorf("enabling did not wake a user: %+v", a)
		}
		seen(id, 10)
		s.update(id, identity.Change{Options: map[string]*string{identity.OptionIgnoreInactivity: ptr("true")}, Enabled: ptr(true)})
		seen(id, 10)
		if a := s.update(id, identity.Change{Name: ptr("ana")}).Account; !a.Enabled {
			s.Error("an exempt user was disabled by an update")
		}
	})
}

// TestGetNobody is the 404 of Keystone, also for what no database holds.
func TestGetNobody(t *testing.T) {
	each(t, func(s *stand) {
		for _, id := range []string{"nobody", "", "a\x00b", "\xff"} {
			if _, err := s.users.Get(s.Context(), id); message(err) != "404 Could not find user: "+id+"." {
				s.Errorf("Get(%q): got %q", id, message(err))
			}
		}
	})
}

// TestUpdateForeign refuses to set what a user of another source has no place
// for.
func TestUpdateForeign(t *testing.T) {
	each(t, func(s *stand) {
		s.exec(`insert into "user" (id, extra, enabled, domain_id) values ('foreign', '{}', $1, 'd')`, true)
		s.exec(`insert into nonlocal_user (domain_id, name, user_id) values ('d', 'Foreign', 'foreign')`)
		before, err := s.users.Get(s.Context(), "foreign")
		s.must(err)
		name, password := "other", "secret-1"
		given := &password
		for what, ch := range map[string]identity.Change{"name": {Name: &name}, "password": {Password: &given}} {
			if _, err := s.users.Update(s.Context(), before, ch); !fault.Is(err, fault.BadRequest) {
				s.Errorf("set the %s: %v, want a 400", what, err)
			}
		}
		same := "Foreign"
		if _, err := s.users.Update(s.Context(), before, identity.Change{Name: &same}); err != nil {
			s.Errorf("set the same name: %v", err)
		}
	})
}
