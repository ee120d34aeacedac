package identity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// column reads one column of text, sorted.
func column(t *testing.T, d db.DB, text string) string {
	t.Helper()
	list, err := db.All(t.Context(), d, db.Query[string]{Text: text, Scan: func(r db.Row) (string, error) {
		var s string
		err := r.Scan(&s)
		return s, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestResetLastActive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		day := time.Date(2026, 3, 4, 23, 59, 0, 0, time.UTC)
		exec(t, d, `insert into "user" (id, enabled, domain_id, last_active_at) values ($1, $2, $3, $4)`, "seen", true, "d", db.Date(day.AddDate(0, 0, -9)))
		for _, id := range []string{"never", "off"} {
			exec(t, d, `insert into "user" (id, enabled, domain_id) values ($1, $2, $3)`, id, id == "never", "d")
		}
		for _, want := range []int64{2, 0} {
			if n, err := identity.ResetLastActive(t.Context(), d, day); err != nil || n != want {
				t.Fatalf("ResetLastActive: %d, %v, want %d", n, err, want)
			}
		}
		for _, x := range []struct {
			day  time.Time
			want string
		}{{day, "never off"}, {day.AddDate(0, 0, -9), "seen"}} {
			list, err := db.All(t.Context(), d, db.Query[string]{
				Text: `select id from "user" where last_active_at = $1 order by id`, Args: []any{db.Date(x.day)},
				Scan: func(r db.Row) (string, error) {
					var s string
					err := r.Scan(&s)
					return s, err
				},
			})
			if got := strings.Join(list, " "); err != nil || got != x.want {
				t.Errorf("last seen on %v: %s, %v, want %s", x.day, got, err, x.want)
			}
		}
	})
}

func TestPurgeMappings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		for _, x := range []struct {
			filter identity.MappingFilter
			want   string
		}{
			{identity.MappingFilter{PublicID: "none"}, "1 2 3 4"},
			{identity.MappingFilter{PublicID: "1"}, "2 3 4"},
			{identity.MappingFilter{LocalID: "a"}, "2 4"},
			{identity.MappingFilter{DomainID: "d1"}, "3 4"},
			{identity.MappingFilter{Type: "group"}, "1 3"},
			{identity.MappingFilter{DomainID: "d1", Type: "group"}, "1 3 4"},
			{identity.MappingFilter{}, ""},
		} {
			exec(t, d, `delete from id_mapping`)
			for _, row := range [][]any{{"1", "d1", "a", "user"}, {"2", "d1", "b", "group"}, {"3", "d2", "a", "user"}, {"4", "d2", "b", "group"}} {
				exec(t, d, `insert into id_mapping (public_id, domain_id, local_id, entity_type) values ($1, $2, $3, $4)`, row...)
			}
			n, err := identity.PurgeMappings(t.Context(), d, x.filter)
			if got := column(t, d, `select public_id from id_mapping`); err != nil || got != x.want || int(n) != 4-len(strings.Fields(x.want)) {
				t.Errorf("%+v: %q is left of 1 2 3 4, %d told, %v, want %q", x.filter, got, n, err, x.want)
			}
		}
	})
}

func TestUnindexedPasswords(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		postgres := d.Dialect() == db.Postgres
		expect := func(when string, want bool) {
			t.Helper()
			n, err := identity.UnindexedPasswords(t.Context(), d)
			if err != nil || (n > 0) != want {
				t.Errorf("%s: %d, %v, want a number of rows: %v", when, n, err, want)
			}
		}
		expect("an empty table", false)
		if !postgres {
			return
		}
		exec(t, d, `insert into "user" (id, enabled, domain_id) values ('u', $1, 'd')`, true)
		exec(t, d, `insert into local_user (id, user_id, domain_id, name) values (1, 'u', 'd', 'u')`)
		exec(t, d, `insert into password (local_user_id, self_service, password_hash, created_at_int, created_at)
			select 1, false, 'x', g, now() from generate_series(1, 20000) g`)
		exec(t, d, `analyze password`)
		expect("a large table", true)
		exec(t, d, `create index password_of_user on password (local_user_id, id)`)
		expect("with an index", false)
	})
}

func TestArgon2Hashes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		exec(t, d, `insert into "user" (id, enabled, domain_id) values ('u', $1, 'd')`, true)
		exec(t, d, `insert into local_user (id, user_id, domain_id, name) values (1, 'u', 'd', 'u')`)
		for i, hash := range []any{"$argon2id$v=19$x", "$2b$04$x", nil} {
			exec(t, d, `insert into password (local_user_id, self_service, password_hash, created_at_int, created_at) values (1, $1, $2, $3, $4)`, false, hash, i, time.Now())
		}
		if n, err := identity.Argon2Hashes(t.Context(), d); err != nil || n != 1 {
			t.Errorf("Argon2Hashes: %d, %v, want 1", n, err)
		}
	})
}

func TestPasswordRulesValid(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, `^(?=.*\d).{7,}$`: true, `(?P<c>.)(?P=c)`: true, `(`: false, `[a`: false, `*`: false,
	} {
		if err := (identity.PasswordRules{Regex: pattern}).Valid(); (err == nil) != want {
			t.Errorf("pattern %q: %v, want it valid: %v", pattern, err, want)
		}
	}
}
