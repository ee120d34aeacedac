package identity_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
)

// federation makes the provider that users of another source point to.
func (s *stand) federation() {
	s.Helper()
	s.exec(`insert into identity_provider (id, enabled, domain_id) values ('idp', $1, 'd')`, true)
	s.exec(`insert into mapping (id, rules, schema_version) values ('m', '"[]"', '1.0')`)
	s.exec(`insert into federation_protocol (id, idp_id, mapping_id) values ('openid', 'idp', 'm')`)
}

// user writes a bare row of the user table.
func (s *stand) user(id, domainID string, enabled any) {
	s.Helper()
	s.exec(`insert into "user" (id, extra, enabled, domain_id) values ($1, $2, $3, $4)`, id, "{}", enabled, domainID)
}

func (s *stand) local(id, domainID, name string) {
	s.Helper()
	s.user(id, domainID, true)
	s.exec(`insert into local_user (user_id, domain_id, name) values ($1, $2, $3)`, id, domainID, name)
}

// TestAccountByID reads users of every source, and rows that other programs
// left behind.
func TestAccountByID(t *testing.T) {
	each(t, func(s *stand) {
		hex64 := strings.Repeat("ab", 32)
		s.federation()
		s.domain("off", "Off", false)
		s.local("u-local", "d", "ana")
		s.user("u-ldap", "d", true)
		s.exec(`insert into nonlocal_user (domain_id, name, user_id) values ('d', 'ldap name', 'u-ldap')`)
		s.user(hex64, "d", true)
		for _, f := range []struct{ unique, shown string }{{"1", "zoe first"}, {"2", "anna second"}} {
			s.exec(`insert into federated_user (user_id, idp_id, protocol_id, unique_id, display_name) values ($1, 'idp', 'openid', $2, $3)`,
				hex64, f.unique, f.shown)
		}
		s.user("u-fed-null", "d", true)
		s.exec(`insert into federated_user (user_id, idp_id, protocol_id, unique_id) values ('u-fed-null', 'idp', 'openid', '3')`)
		s.user("u-nothing", "d", true)
		s.exec(`insert into "user" (id, domain_id) values ('ops/admin @ site', 'd')`) // enabled, extra, all NULL
		s.local("u-off", "off", "olaf")
		s.local("u-gone", "gone", "gus")

		dom := resource.Domain{ID: "d", Name: "Dom", Enabled: true}
		for _, want := range []identity.Account{
			{ID: "u-local", Name: "ana", DomainID: "d", Enabled: true, Extra: "{}", Domain: dom, LocalID: 1},
			{ID: "u-ldap", Name: "ldap name", DomainID: "d", Enabled: true, Extra: "{}", Domain: dom},
			{ID: hex64, Name: "zoe first", DomainID: "d", Enabled: true, Extra: "{}", Domain: dom},
			{ID: "u-fed-null", DomainID: "d", Enabled: true, Extra: "{}", Domain: dom},
			{ID: "u-nothing", DomainID: "d", Enabled: true, Extra: "{}", Domain: dom},
			{ID: "ops/admin @ site", DomainID: "d", Domain: dom},
			{ID: "u-off", Name: "olaf", DomainID: "off", Enabled: true, Extra: "{}", Domain: resource.Domain{ID: "off", Name: "Off"}, LocalID: 2},
			{ID: "u-gone", Name: "gus", DomainID: "gone", Enabled: true, Extra: "{}", LocalID: 3},
		} {
			got := s.account(identity.AccountByID(want.ID))
			if diff := cmp.Diff(want, got); diff != "" {
				s.Errorf("AccountByID(%q): want -, got +\n%s", want.ID, diff)
			}
		}
		missing := []string{"", "nobody", resource.RootDomainID}
		if dbtest.Exact(s.db) {
			missing = append(missing, "U-LOCAL", "u-local ")
		}
		for _, id := range missing {
			if _, err := db.One(s.Context(), s.db, identity.AccountByID(id)); !errors.Is(err, db.ErrNoRow) {
				s.Errorf("AccountByID(%q): got %v, want no row", id, err)
			}
		}
		two, err := db.All(s.Context(), s.db, identity.OwnersByID([]string{"u-local", hex64, "nobody"}))
		s.must(err)
		for _, id := range []string{"u-local", hex64} {
			whole, err := db.One(s.Context(), s.db, identity.AccountByID(id))
			s.must(err)
			whole.Extra, whole.LocalID, whole.FailedAuthCount, whole.FailedAuthAt = "", 0, 0, nil
			whole.Password.Hash, whole.Password.SelfService = "", false
			got, ok := identity.NewestOf(two, id)
			if diff := cmp.Diff(whole, got); !ok || diff != "" {
				s.Errorf("the owner %q is not the account: -, got +\n%s", id, diff)
			}
		}
		if _, ok := identity.NewestOf(two, "nobody"); ok {
			s.Errorf("nobody was found")
		}
	})
}

// TestAccountByName holds names apart by every letter and every domain, where
// the engine does.
func TestAccountByName(t *testing.T) {
	each(t, func(s *stand) {
		if !dbtest.Exact(s.db) {
			accountByNameFolded(s)
			return
		}
		s.domain("e", "dom", true) // differs from "Dom" in one letter's case
		s.exec(`insert into project (id, name, extra, enabled, domain_id, parent_id, is_domain) values ('p', 'Proj', '{}', $1, 'd', 'd', $2)`, true, false)
		for id, name := range map[string]string{"1": "Alice", "2": "alice", "3": "ALICE", "4": "Zoë", "5": "Alice "} {
			s.local(id, "d", name)
		}
		s.local("6", "e", "alice")
		s.local("7", "p", "alice") // a domain id that names a project
		s.user("8", "d", true)
		s.exec(`insert into nonlocal_user (domain_id, name, user_id) values ('d', 'ldap', '8')`)
		for _, tt := range []struct{ name, domainID, domainName, want string }{
			{"Alice", "d", "Dom", "1"},
			{"alice", "d", "Dom", "2"},
			{"ALICE", "d", "Dom", "3"},
			{"aLICE", "d", "Dom", ""},
			{"Zoë", "d", "Dom", "4"},
			{"Zoe\u0308", "d", "Dom", ""}, // the same letters in another form
			{"Alice ", "d", "Dom", "5"},
			{" Alice", "d", "Dom", ""},
			{"alice", "e", "dom", "6"},
			{"alice", "D", "DOM", ""},
			{"al%", "d", "Dom", ""},
			{"ldap", "d", "Dom", ""}, // not a local user
			{"", "d", "Dom", ""},
		} {
			byID, err := db.All(s.Context(), s.db, identity.AccountByName(tt.name, tt.domainID))
			s.must(err)
			byName, err := db.All(s.Context(), s.db, identity.AccountByNames(tt.name, tt.domainName))
			s.must(err)
			if got := ids(byID); got != tt.want {
				s.Errorf("AccountByName(%q, %q) = %q, want %q", tt.name, tt.domainID, got, tt.want)
			}
			if got := ids(byName); got != tt.want {
				s.Errorf("AccountByNames(%q, %q) = %q, want %q", tt.name, tt.domainName, got, tt.want)
			}
		}
		byName, err := db.All(s.Context(), s.db, identity.AccountByNames("alice", "Proj"))
		if s.must(err); len(byName) != 0 {
			s.Error("a project of that name counted as the user's domain")
		}
	})
}

func ids(accounts []identity.Account) string {
	var out []string
	for _, a := range accounts {
		out = append(out, a.ID)
	}
	return strings.Join(out, " ")
}

// TestAccountPassword finds the current one among rows of several ages: the
// highest created_at_int, and the whole-microsecond columns before their twins.
func TestAccountPassword(t *testing.T) {
	old, older := noon.Add(-time.Hour), noon.Add(-2*time.Hour)
	insert := `insert into password (local_user_id, password_hash, created_at, created_at_int, expires_at, expires_at_int, self_service)
values ((select id from local_user where user_id = $1), $2, $3, $4, $5, $6, $7)`
	each(t, func(s *stand) {
		for _, id := range []string{"legacy", "int", "equal", "nohash", "none"} {
			s.local(id, "d", id)
		}
		s.exec(insert, "legacy", "h", old, 0, noon, nil, false)
		s.exec(insert, "int", "new", older, old.UnixMicro(), older, noon.UnixMicro(), true)
		s.exec(insert, "int", "old", noon, older.UnixMicro(), nil, nil, false)
		s.exec(insert, "equal", "first", old, old.UnixMicro(), nil, nil, false)
		s.exec(insert, "equal", "second", old, old.UnixMicro(), nil, nil, false)
		s.exec(insert, "nohash", nil, old, old.UnixMicro(), nil, 0, false)
		for id, want := range map[string]identity.Password{
			"legacy": {Hash: "h", CreatedAt: old, ExpiresAt: &noon},
			"int":    {Hash: "new", CreatedAt: old, ExpiresAt: &noon, SelfService: true},
			"equal":  {Hash: "second", CreatedAt: old},
			"nohash": {CreatedAt: old},
			"none":   {},
		} {
			got := s.account(identity.AccountByID(id)).Password
			if id != "none" && got.ID == 0 {
				s.Errorf("user %s: no password found", id)
			}
			got.ID = 0
			want = s.kept(id, want)
			if diff := cmp.Diff(want, got); diff != "" {
				s.Errorf("password of %s: want -, got +\n%s", id, diff)
			}
		}
	})
}

// TestExpired turns at the very microsecond.
func TestExpired(t *testing.T) {
	for _, tt := range []struct {
		at   *time.Time
		want bool
	}{{nil, false}, {ptr(noon), true}, {ptr(noon.Add(time.Microsecond)), false}, {ptr(noon.Add(-time.Microsecond)), true}} {
		if got := (identity.Password{ExpiresAt: tt.at}).Expired(noon); got != tt.want {
			t.Errorf("password that expires at %v: expired at %v is %v, want %v", tt.at, noon, got, tt.want)
		}
	}
}

// TestActive counts whole days of UTC since the last login, or since the
// user was made.
func TestActive(t *testing.T) {
	days := func(n int) *time.Time { return ptr(time.Date(2026, 11, 30-n, 23, 59, 59, 0, time.UTC)) }
	for _, tt := range []struct {
		name string
		user identity.Account
		idle *int
		want bool
	}{
		{"disabled", identity.Account{}, nil, false},
		{"enabled", identity.Account{Enabled: true}, nil, true},
		{"no limit, idle for long", identity.Account{Enabled: true, LastActiveAt: days(29)}, nil, true},
		{"one day short", identity.Account{Enabled: true, LastActiveAt: days(9)}, ptr(10), true},
		{"on the day", identity.Account{Enabled: true, LastActiveAt: days(10)}, ptr(10), false},
		{"created long ago, never there", identity.Account{Enabled: true, CreatedAt: days(10)}, ptr(10), false},
		{"created long ago, there yesterday", identity.Account{Enabled: true, CreatedAt: days(29), LastActiveAt: days(1)}, ptr(10), true},
		{"neither date", identity.Account{Enabled: true}, ptr(1), true},
		{"exempt", identity.Account{Enabled: true, LastActiveAt: days(29), IgnoreInactivity: true}, ptr(10), true},
		{"exempt but disabled", identity.Account{LastActiveAt: days(1), IgnoreInactivity: true}, ptr(10), false},
		{"limit of a day, here today", identity.Account{Enabled: true, LastActiveAt: days(0)}, ptr(1), true},
		{"limit of a day, here yesterday", identity.Account{Enabled: true, LastActiveAt: days(1)}, ptr(1), false},
	} {
		if got := tt.user.Active(noon, tt.idle); got != tt.want {
			t.Errorf("%s: active is %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestIdleExemption reads option 1004 with the account.
func TestIdleExemption(t *testing.T) {
	each(t, func(s *stand) {
		for id, value := range map[string]any{"yes": "true", "no": "false", "null": nil} {
			s.local(id, "d", id)
			s.exec(`insert into user_option (user_id, option_id, option_value) values ($1, '1004', $2)`, id, value)
			if got := s.account(identity.AccountByID(id)).IgnoreInactivity; got != (id == "yes") {
				s.Errorf("option 1004 = %v: exempt is %v", value, got)
			}
		}
	})
}

// accountByNameFolded: one way to write a name takes it, and all find it.
func accountByNameFolded(s *stand) {
	s.local("1", "d", "Alice")
	s.local("4", "d", "Zoë")
	for name, want := range map[string]string{"Alice": "1", "aLICE": "1", "Alice ": "1", "zoe": "4", " Alice": "", "al%": "", "Zoe\u0308": "", "": ""} {
		for how, q := range map[string]db.Query[identity.Account]{"domain id": identity.AccountByName(name, "d"), "domain name": identity.AccountByNames(name, "DOM")} {
			found, err := db.All(s.Context(), s.db, q)
			s.must(err)
			got := ""
			for _, a := range found {
				got += a.ID
			}
			if got != want {
				s.Errorf("%q by %s: got %q, want %q", name, how, got, want)
			}
		}
	}
}
