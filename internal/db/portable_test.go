package db_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
)

func TestPlaceholders(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		for _, c := range []struct {
			text string
			args []any
			want string
		}{
			{`select cast($1 as varchar)`, []any{"a"}, "a"},
			{`select cast($2 as varchar) || cast($1 as varchar) || cast($2 as varchar)`, []any{"a", "b"}, "bab"},
			{`select cast($10 as varchar) || cast($1 as varchar)
			  where $2 = $3 and $4 = $5 and $6 = $7 and $8 = $9`, []any{"1", "x", "x", "x", "x", "x", "x", "x", "x", "10"}, "101"},
			{`select '$1 ?1 it''s' || cast($1 as varchar)`, []any{"'"}, "$1 ?1 it's'"},
			{`select cast($1 as varchar) -- the $2 of nothing`, []any{`\' or 1=1 --`}, `\' or 1=1 --`},
			{`select id from project where id in ($1, $2) and id = $1`, []any{"<<keystone.domain.root>>", "$1"}, "<<keystone.domain.root>>"},
		} {
			if got := get[string](t, d, c.text, c.args...); got != c.want {
				t.Errorf("%s with %v: got %q, want %q", c.text, c.args, got, c.want)
			}
		}
	})
}

func TestReservedNames(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		exec(t, d, insertUser, "u", true, time.Now(), nil, "d")
		exec(t, d, `insert into "group" (id, domain_id, name, extra) values ($1, $2, $3, $4)`, "g", "d", "staff", "{}")
		exec(t, d, `insert into "limit" (id, resource_limit, project_id) values ($1, $2, $3)`, "l", 7, "p")
		exec(t, d, `insert into whitelisted_config (domain_id, "group", "option", value) values ($1, $2, $3, $4)`, "d", "ldap", "url", `"x"`)
		exec(t, d, `insert into user_group_membership (user_id, group_id) values ($1, $2)`, "u", "g")
		got := get[string](t, d, `select g.name
			from "group" g
			join user_group_membership m on m.group_id = g.id
			join "user" u on u.id = m.user_id
			where u.id = $1`, "u")
		if got != "staff" {
			t.Errorf("group of the user: got %q, want staff", got)
		}
		if got := get[string](t, d, `select "group" || '.' || "option" from whitelisted_config where "group" = $1`, "ldap"); got != "ldap.url" {
			t.Errorf("option: got %q, want ldap.url", got)
		}
		if got := get[int](t, d, `select resource_limit from "limit" where id = $1`, "l"); got != 7 {
			t.Errorf("limit: got %d, want 7", got)
		}
		if _, err := db.All(t.Context(), d, value[string](`select "nosuch" from region`)); err == nil {
			t.Error("a quoted name that is no column was read as a string")
		}
	})
}

func TestLike(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		for _, id := range []string{"100%", "100x", "a_b", "axb", "!", `back\slash`, "Émile"} {
			addRegion(t, d, id, "")
		}
		other := []string{"A_B"}
		if d.Dialect() == db.MariaDB {
			other = []string{"a_b"} // the same there: see letters_test.go
		} else {
			addRegion(t, d, "A_B", "")
		}
		for _, c := range []struct {
			pattern string
			want    []string
		}{
			{db.EscapeLike("100%"), []string{"100%"}},
			{"100%", []string{"100%", "100x"}},
			{db.EscapeLike("a_b"), []string{"a_b"}},
			{"a_b", []string{"a_b", "axb"}},
			{db.EscapeLike("!"), []string{"!"}},
			{db.EscapeLike(`back\`) + "%", []string{`back\slash`}},
			{db.EscapeLike("É") + "%", []string{"Émile"}},
			{"A!_B", other},
		} {
			got, err := db.All(t.Context(), d, value[string](`select id from region where id like $1 escape '!'`, c.pattern))
			slices.Sort(got)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("like %q: got %q, %v, want %q", c.pattern, got, err, c.want)
			}
		}
		got, err := db.All(t.Context(), d, value[string](`select id from region where lower(id) like lower($1) escape '!'`, db.EscapeLike("éMILE")))
		if err != nil || !slices.Equal(got, []string{"Émile"}) {
			t.Errorf("letters of any case: got %q, %v, want Émile", got, err)
		}
	})
}

// kept is what a row with all kinds of values holds.
type kept struct {
	Enabled *bool
	Created *time.Time
	Active  *time.Time
	Project *string
}

// on is what the engine keeps of a time: on MariaDB the columns of Python's
// schema are whole seconds.
func (k kept) on(d db.DB) kept {
	if d.Dialect() == db.MariaDB && k.Created != nil {
		whole := k.Created.Truncate(time.Second)
		k.Created = &whole
	}
	return k
}

func scanKept(r db.Row) (k kept, err error) {
	err = r.Scan(&k.Enabled, &k.Created, &k.Active, &k.Project)
	return k, err
}

func TestValues(t *testing.T) {
	yes, no := true, false
	at := func(s string) *time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		return &v
	}
	every(t, func(t *testing.T, d db.DB) {
		for name, c := range map[string]struct {
			created, active any
			enabled         any
			want            kept
		}{
			"nothing":        {nil, nil, nil, kept{}},
			"nil pointers":   {(*time.Time)(nil), (*db.Date)(nil), (*bool)(nil), kept{}},
			"microseconds":   {*at("2026-03-01T12:30:59.123456789Z"), db.Date(*at("2026-03-01T23:59:59Z")), true, kept{Enabled: &yes, Created: at("2026-03-01T12:30:59.123456Z"), Active: at("2026-03-01T00:00:00Z")}},
			"whole second":   {at("2026-03-01T12:30:59Z"), db.Date(*at("2026-03-01T00:00:00Z")), &no, kept{Enabled: &no, Created: at("2026-03-01T12:30:59Z"), Active: at("2026-03-01T00:00:00Z")}},
			"another zone":   {*at("2026-01-01T01:00:00+02:00"), db.Date(*at("2026-01-01T01:00:00+02:00")), false, kept{Enabled: &no, Created: at("2025-12-31T23:00:00Z"), Active: at("2025-12-31T00:00:00Z")}},
			"before 1970":    {*at("1969-12-31T23:59:59.999999Z"), db.Date(*at("1900-01-01T00:00:00Z")), true, kept{Enabled: &yes, Created: at("1969-12-31T23:59:59.999999Z"), Active: at("1900-01-01T00:00:00Z")}},
			"year 9999":      {*at("9999-12-31T23:59:59Z"), db.Date(*at("9999-12-31T00:00:00Z")), true, kept{Enabled: &yes, Created: at("9999-12-31T23:59:59Z"), Active: at("9999-12-31T00:00:00Z")}},
			"a leap evening": {*at("2024-02-29T23:59:59.000001Z"), db.Date(*at("2024-02-29T00:00:00Z")), true, kept{Enabled: &yes, Created: at("2024-02-29T23:59:59.000001Z"), Active: at("2024-02-29T00:00:00Z")}},
		} {
			exec(t, d, insertUser, name, c.enabled, c.created, c.active, "d")
			got, err := db.One(t.Context(), d, db.Query[kept]{
				Text: `select enabled, created_at, last_active_at, default_project_id from "user" where id = $1`, Args: []any{name}, Scan: scanKept,
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if diff := cmp.Diff(c.want.on(d), got); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
	})
}

func TestTimesCompare(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		base, step := time.Date(2026, 5, 1, 10, 0, 0, 500000000, time.UTC), time.Microsecond
		if d.Dialect() == db.MariaDB {
			base, step = base.Truncate(time.Second), time.Second
		}
		for i, name := range []string{"early", "same", "late"} {
			exec(t, d, insertUser, name, i == 1, base.Add(time.Duration(i-1)*step), db.Date(base.AddDate(0, 0, i-1)), "d")
		}
		check := func(text string, arg any, want ...string) {
			t.Helper()
			got, err := db.All(t.Context(), d, value[string](`select id from "user" where `+text+` order by created_at`, arg))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
			}
		}
		check(`created_at < $1`, base, "early")
		check(`created_at >= $1`, base.In(time.FixedZone("", 3600)), "same", "late")
		check(`last_active_at < $1`, db.Date(base), "early")
		check(`last_active_at = $1`, db.Date(base), "same")
		check(`enabled = $1`, true, "same")
		check(`enabled = $1`, false, "early", "late")
		if got := get[time.Time](t, d, `select max(created_at) from "user"`); !got.Equal(base.Add(step)) {
			t.Errorf("max of times: got %s", got)
		}
		if got := get[*time.Time](t, d, `select max(created_at) from "user" where id = $1`, "nobody"); got != nil {
			t.Errorf("max of no times: got %s, want none", got)
		}
		if got := get[bool](t, d, `select count(*) > 2 from "user"`); !got {
			t.Error("a computed boolean: got false")
		}
		exec(t, d, `update "user" set last_active_at = $1, enabled = $2 where id = $3`, db.Date(base), nil, "late")
		check(`last_active_at = $1`, db.Date(base), "same", "late")
	})
}

func TestTextIsKept(t *testing.T) {
	texts := []string{
		"", " leading and trailing ", "Ünïcödé", "日本語", "שלום", "🙂👩‍👩‍👧", "e\u0301 \u00e9", "tab\tnew\nline\r", `quotes ' " ` + "`", `\x00 \u0000 \`,
		"\u007f\u0080\uffff", "%s $1 ?1 :name", strings.Repeat("長", 5000), `{"a": "b\"c"}`,
	}
	every(t, func(t *testing.T, d db.DB) {
		for _, s := range texts {
			exec(t, d, `delete from policy`)
			_, err := d.Exec(t.Context(), `insert into policy (id, type, "blob", extra) values ($1, $2, $3, $4)`, "p", "t", s, nil)
			if d.Dialect() == db.MariaDB && beyondPlane0(s) {
				if !errors.Is(err, db.ErrBadValue) {
					t.Errorf("%q: got %v, want ErrBadValue", s, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if got := get[string](t, d, `select "blob" from policy where "blob" = $1`, s); got != s {
				t.Errorf("got %q, want %q", got, s)
			}
			if got := get[*string](t, d, `select extra from policy`); got != nil {
				t.Errorf("null text: got %q", *got)
			}
		}
	})
}

// beyondPlane0 tells of letters that Python's schema on MariaDB has no room for.
func beyondPlane0(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r > 0xffff })
}

func TestValuesThatNoEngineTakes(t *testing.T) {
	type named string
	bad := "a\x00b"
	every(t, func(t *testing.T, d db.DB) {
		for what, arg := range map[string]any{"NUL": bad, "NUL behind a pointer": &bad, "NUL in a named type": named(bad), "broken UTF-8": "a\xff", "half a rune": "\xe6\x97"} {
			if _, err := db.One(t.Context(), d, value[string](`select id from region where id = $1`, arg)); !errors.Is(err, db.ErrBadValue) {
				t.Errorf("query with %s: got %v, want ErrBadValue", what, err)
			}
			if _, err := d.Exec(t.Context(), insertRegion, "r", arg, nil, nil); !errors.Is(err, db.ErrBadValue) {
				t.Errorf("write with %s: got %v, want ErrBadValue", what, err)
			}
			var b db.Batch
			b.Exec(insertRegion, "first", "", nil, nil)
			db.Add(&b, value[string](`select id from region where id = $1`, arg))
			if err := d.Send(t.Context(), &b); !errors.Is(err, db.ErrBadValue) {
				t.Errorf("batch with %s: got %v, want ErrBadValue", what, err)
			}
		}
		if n := get[int](t, d, `select count(*) from region`); n != 0 {
			t.Errorf("%d rows were stored, want none", n)
		}
		if d.Dialect() == db.Postgres {
			for what, args := range map[string][]any{
				"a number too big": {"l", int64(1) << 40, "p"},
				"a text too long":  {"l", 1, strings.Repeat("x", 65)},
			} {
				if _, err := d.Exec(t.Context(), `insert into "limit" (id, resource_limit, project_id) values ($1, $2, $3)`, args...); !errors.Is(err, db.ErrBadValue) {
					t.Errorf("%s: got %v, want ErrBadValue", what, err)
				}
			}
			if _, err := d.Exec(t.Context(), `insert into assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`, "Sideways", "a", "t", "r", true); !errors.Is(err, db.ErrBadValue) {
				t.Errorf("a value outside of an enum: got %v, want ErrBadValue", err)
			}
		}
		if _, err := d.Exec(t.Context(), insertRegion, "r", struct{}{}, nil, nil); err == nil {
			t.Error("a struct was taken for a value")
		}
	})
}

func TestEnums(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		exec(t, d, `insert into role (id, name, extra) values ($1, $2, $3)`, "r", "reader", "{}")
		type kind string
		for _, k := range []kind{"UserProject", "GroupProject", "UserDomain", "GroupDomain"} {
			exec(t, d, `insert into assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`, k, "a", "t", "r", k == "UserDomain")
		}
		exec(t, d, `insert into id_mapping (public_id, domain_id, local_id, entity_type) values ($1, $2, $3, $4)`, "p", "d", "l", "user")
		got, err := db.All(t.Context(), d, value[string](`select type from assignment where type in ($1, $2) and actor_id = $3 order by cast(type as varchar)`, "UserProject", "GroupDomain", "a"))
		if err != nil || !slices.Equal(got, []string{"GroupDomain", "UserProject"}) {
			t.Errorf("types: got %q, %v", got, err)
		}
		if got := get[string](t, d, `select type from assignment where inherited = $1`, true); got != "UserDomain" {
			t.Errorf("inherited: got %q", got)
		}
		var b db.Batch
		mapped := db.Add(&b, value[string](`select entity_type from id_mapping where entity_type = $1`, "user"))
		gone := b.Exec(`delete from assignment where type = $1`, "UserProject")
		if err := d.Send(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if one, err := mapped.One(); err != nil || one != "user" || gone.Rows() != 1 {
			t.Errorf("batch: got %q, %v and %d rows gone", one, err, gone.Rows())
		}
	})
}

func TestLists(t *testing.T) {
	every(t, func(t *testing.T, d db.DB) {
		for _, id := range []string{"a", "b", "c"} {
			addRegion(t, d, id, "x")
		}
		all := func(text string, args ...any) []string {
			t.Helper()
			got, err := db.All(t.Context(), d, value[string](text+` order by id`, args...))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			return got
		}
		if got := all(`select id from region where description = $1 and id in `+db.In(2, 2), "x", "a", "c"); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("in two: got %q", got)
		}
		if got := all(`select id from region where id in ` + db.In(0, 1)); got != nil {
			t.Errorf("in none: got %q", got)
		}
		if got := all(`select id from region where id not in ` + db.In(0, 1)); got != nil {
			t.Errorf("not in none: got %q, documented as nothing", got)
		}
		many := make([]any, 1000)
		for i := range many {
			many[i] = "no"
		}
		many[999] = "b"
		if got := all(`select id from region where id in `+db.In(len(many), 1), many...); !slices.Equal(got, []string{"b"}) {
			t.Errorf("in a thousand: got %q", got)
		}
		w := db.Where{Args: []any{"x"}}
		w.And(`description = $1`)
		w.And(`(id = ? or id = ? or id = '?')`, "a", "b")
		w.AndIn(`id`, []string{"b", "c"})
		if got := all(`select id from region`+w.String(), w.Args...); !slices.Equal(got, []string{"b"}) {
			t.Errorf("where%s with %v: got %q", w.String(), w.Args, got)
		}
	})
}
