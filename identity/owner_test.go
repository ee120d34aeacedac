package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// TestOwners reads for tokens what AccountByID reads, but for the password's
// hash and what a login alone asks for; of several passwords the newest counts.
func TestOwners(t *testing.T) {
	old, older := noon.Add(-time.Hour), noon.Add(-2*time.Hour)
	hex64 := strings.Repeat("ab", 32)
	insert := `insert into password (local_user_id, password_hash, created_at, created_at_int, expires_at, expires_at_int)
values ((select id from local_user where user_id = $1), 'h', $2, $3, $4, $5)`
	each(t, func(s *stand) {
		s.federation()
		s.domain("off", "Off", false)
		for _, id := range []string{"none", "legacy", "several", "equal"} {
			s.local(id, "d", "name of "+id)
		}
		s.local("out", "off", "out")
		s.local("gone", "no domain", "gone")
		s.user("ldap", "d", nil)
		s.exec(`insert into nonlocal_user (domain_id, name, user_id) values ('d', 'from ldap', 'ldap')`)
		s.user(hex64, "d", true)
		for _, name := range []string{"z first", "a second"} {
			s.exec(`insert into federated_user (user_id, idp_id, protocol_id, unique_id, display_name) values ($1, 'idp', 'openid', $2, $2)`, hex64, name)
		}
		s.exec(insert, "legacy", old, 0, noon, nil)
		s.exec(insert, "several", old, old.UnixMicro(), nil, nil)
		s.exec(insert, "several", noon, noon.UnixMicro(), noon, noon.UnixMicro())
		s.exec(insert, "several", older, older.UnixMicro(), older, older.UnixMicro())
		s.exec(insert, "several", noon, 0, nil, nil) // older than all that have the column
		s.exec(insert, "equal", old, old.UnixMicro(), older, older.UnixMicro())
		s.exec(insert, "equal", old, old.UnixMicro(), nil, 0)
		s.exec(`insert into user_option (user_id, option_id, option_value) values ('several', '1004', 'true'), ('equal', '1004', 'false')`)
		s.exec(`update "user" set last_active_at = '2026-11-29', created_at = $1, default_project_id = 'p' where id = 'several'`, old)

		dom := resource.Domain{ID: "d", Name: "Dom", Enabled: true}
		want := []identity.Account{
			{ID: "none", Name: "name of none", DomainID: "d", Enabled: true, Domain: dom},
			{ID: "legacy", Name: "name of legacy", DomainID: "d", Enabled: true, Domain: dom, Password: identity.Password{ExpiresAt: &noon}},
			{
				ID: "several", Name: "name of several", DomainID: "d", Enabled: true, Domain: dom, DefaultProjectID: "p", IgnoreInactivity: true,
				CreatedAt: &old, LastActiveAt: ptr(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)), Password: identity.Password{ExpiresAt: &noon},
			},
			{ID: "equal", Name: "name of equal", DomainID: "d", Enabled: true, Domain: dom},
			{ID: "out", Name: "out", DomainID: "off", Enabled: true, Domain: resource.Domain{ID: "off", Name: "Off"}},
			{ID: "gone", Name: "gone", DomainID: "no domain", Enabled: true},
			{ID: "ldap", Name: "from ldap", DomainID: "d", Domain: dom},
			{ID: hex64, Name: "z first", DomainID: "d", Enabled: true, Domain: dom},
		}
		var ids []string
		for _, a := range want {
			ids = append(ids, a.ID)
		}
		rows, err := db.All(s.Context(), s.db, identity.OwnersByID(append(ids, "nobody")))
		s.must(err)
		for _, a := range want {
			got, ok := identity.NewestOf(rows, a.ID)
			got.Password.ID, got.Password.CreatedAt = 0, time.Time{}
			a.Password = s.kept(a.ID, a.Password)
			if a.CreatedAt != nil {
				a.CreatedAt = ptr(dbtest.Kept(s.db, *a.CreatedAt))
			}
			if diff := cmp.Diff(a, got); !ok || diff != "" {
				s.Errorf("owner %s (%v): want -, got +\n%s", a.ID, ok, diff)
			}
		}
		for _, id := range []string{"nobody", "", "SEVERAL"} {
			if _, ok := identity.NewestOf(rows, id); ok {
				s.Errorf("NewestOf finds %q", id)
			}
		}
	})
}

// TestAccountsNewestFirst: the account reads give the current password first,
// however many rows a user has and in whatever order they were written.
func TestAccountsNewestFirst(t *testing.T) {
	each(t, func(s *stand) {
		s.local("u", "d", "ana")
		for _, age := range []int64{3, 1, 2, 5, 4} {
			at := noon.Add(-time.Duration(age) * time.Hour)
			s.exec(`insert into password (local_user_id, password_hash, created_at, created_at_int) values ((select id from local_user where user_id = 'u'), $1, $2, $3)`,
				at.Format(time.TimeOnly), at, at.UnixMicro())
		}
		for how, q := range map[string]db.Query[identity.Account]{
			"AccountByID": identity.AccountByID("u"), "AccountByName": identity.AccountByName("ana", "d"), "AccountByNames": identity.AccountByNames("ana", "Dom"),
		} {
			if got := s.account(q).Password.Hash; got != "11:00:00" {
				s.Errorf("%s: current password of %s, want the one of 11:00:00", how, got)
			}
		}
	})
}
