//go:build interop

package crossing_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// Databases that have lived hold rows that no release writes today.

// Ids of kinds that are no UUID.
const (
	hash64  = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of a user of LDAP
	dashed  = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	capital = "6BA7B8109DAD11D180B400C04FD430C8"
	legacy  = "legacy.id_1"
)

// extras are what a column extra may hold. NULL, an empty text and null are not
// among them: Python answers a user or a region with one of these by breaking
// off the connection; see TestBrokenRows.
var extras = []any{
	"{}", `{"email": null, "description": "dës"}`,
	`{"nested": {"b": [1, 2.50, 1e3, "ü", true, null], "a": "\u2713"}}`,
	`{"enabled": false, "id": "other", "name": "other", "domain_id": "other"}`,
}

func (c *cloud) exec(text string, args ...any) {
	c.t.Helper()
	if _, err := c.DB.Exec(c.t.Context(), text, args...); err != nil {
		c.t.Fatalf("%v\n%s %v", err, text, args)
	}
}

// oddUser puts a user into the tables who has the person's password, a role on
// project and system, and odd columns.
func (c *cloud) oddUser(p *person, id, userName, domain, project string, extra, enabled, created, def any) {
	c.t.Helper()
	c.exec(`insert into "user" (id, extra, enabled, default_project_id, created_at, domain_id) values ($1, $2, $3, $4, $5, $6)`,
		id, extra, enabled, def, created, domain)
	c.exec(`insert into local_user (user_id, domain_id, name) values ($1, $2, $3)`, id, domain, userName)
	c.exec(`insert into password (local_user_id, password_hash, created_at, created_at_int)
select l.id, p.password_hash, p.created_at, p.created_at_int from local_user l, password p join local_user o on o.id = p.local_user_id
where l.user_id = $1 and o.user_id = $2`, id, p.id)
	c.exec(`insert into assignment (type, actor_id, target_id, role_id, inherited) values ('UserProject', $1, $2, $3, false)`, id, project, p.role)
	c.exec(`insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ('UserSystem', $1, 'system', $2, false)`, id, p.role)
}

// oddProject puts a project, or a domain, into its table.
func (c *cloud) oddProject(id, projectName, domain string, parent, extra, description, enabled any, isDomain bool) {
	c.t.Helper()
	c.exec(`insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		id, projectName, extra, description, enabled, domain, parent, isDomain)
}

// TestOddRows: both answer alike about users, projects, roles and regions that
// look as no server of today would write them, and share their tokens.
func TestOddRows(t *testing.T) {
	c := shared(t)
	p := c.person()
	const root = "<<keystone.domain.root>>"
	c.oddProject("dom.1", "Dömäin ✓", root, nil, "{}", nil, true, true)
	c.oddProject("acme", "ACME", root, nil, "{}", "", true, true)
	if dbtest.Exact(c.DB) {
		c.oddProject("acme2", "acme", root, nil, "{}", "", true, true)
	}
	c.oddProject("proj.1", "Pröject 1", "dom.1", "dom.1", "{}", nil, true, false)
	c.oddProject(hash64, "hash", "default", "default", `{"a": 1}`, "", true, false)
	c.oddProject(dashed, "dashed", "acme", "acme", "{}", "x", true, false)
	c.oddProject("child", "child", "acme", dashed, `{"nested": {"a": [1, 2.5]}}`, nil, true, false)
	c.oddProject("unset", "no flag", "default", "default", "{}", nil, nil, false)
	c.exec(`update role set description = null where id = $1`, p.role)

	type user struct {
		id, name, domain, project string
		extra, enabled, created   any
		def                       any
	}
	users := []user{
		{"u1", "Plain", "default", p.project, "{}", true, nil, nil},
		{hash64, "Of LDAP", "default", hash64, "{}", true, nil, nil},
		{dashed, "dashed", "acme", dashed, "{}", true, nil, dashed},
		{capital, "capital", "acme", "child", "{}", true, nil, "child"},
		{legacy, "用户-Ünï ✓", "dom.1", "proj.1", "{}", true, nil, "proj.1"},
		{"case1", "Alice", "acme", "child", "{}", true, nil, nil},
		{"spaces", " two  words ", "acme", "child", "{}", true, nil, nil},
		{"noflag", "no flag", "acme", "child", "{}", nil, time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), nil},
		{"off", "off", "acme", "child", "{}", false, nil, nil},
		{"away", "away", "acme", "child", "{}", true, nil, "no-such-project"},
		{"onunset", "on unset", "default", "unset", "{}", true, nil, nil},
	}
	if !dbtest.Exact(c.DB) {
		// He is asked for behind the others: the token of the dashed id is his too.
		users = slices.DeleteFunc(users, func(u user) bool { return u.id == capital })
	} else {
		users = append(users, user{"case2", "alice", "acme", "child", "{}", true, nil, nil}, user{"case3", "alice", "acme2", "child", "{}", true, nil, nil})
	}
	for i, e := range extras {
		users = append(users, user{"extra" + string(rune('a'+i)), "extra " + string(rune('a'+i)), "acme", "child", e, true, nil, nil})
	}
	for _, u := range users {
		c.oddUser(p, u.id, u.name, u.domain, u.project, u.extra, u.enabled, u.created, u.def)
	}
	domains := map[string]string{"default": "Default", "dom.1": "Dömäin ✓", "acme": "ACME", "acme2": "acme"}
	for _, u := range users {
		t.Run(u.id, func(t *testing.T) {
			c := newCloud(t, c.Env)
			who := m{"name": u.name, "domain": m{"name": domains[u.domain]}, "password": p.password}
			for what, login := range map[string]m{
				"by id":      {"auth": m{"scope": "unscoped", "identity": identity(m{"id": u.id, "password": p.password})}},
				"by name":    {"auth": m{"scope": "unscoped", "identity": identity(who)}},
				"default":    {"auth": m{"identity": identity(who)}},
				"on project": {"auth": m{"scope": m{"project": m{"id": u.project}}, "identity": identity(who)}},
				"on system":  {"auth": m{"scope": peer.OnSystem(), "identity": identity(who)}},
			} {
				c.sameLogin(t, what, login)
			}
			if u.enabled == nil {
				return // Python says null where we say false
			}
			c.same(t, "changed", call{Method: "PATCH", Path: "/v3/users/" + u.id, Body: m{"user": m{"note": "ü"}}, Token: c.admin})
		})
	}
	if !dbtest.Exact(c.DB) {
		c.capitalID(t, p)
	}
	// Whether or not names that differ in case, accents or blanks are one.
	for _, variant := range []string{"aLICE", "alice ", "Älice", " alice"} {
		c.sameLogin(t, "by the name "+variant, m{"auth": m{"scope": "unscoped", "identity": identity(m{"name": variant, "domain": m{"name": "AcMe"}, "password": p.password})}})
	}
	t.Cleanup(func() { clear(t, c.DB, `delete from region where id like 'odd %' or id like '%✓'`) })
	for i, e := range extras {
		c.exec(`insert into region (id, description, parent_region_id, extra) values ($1, $2, $3, $4)`, "odd "+string(rune('a'+i)), "", nil, e)
	}
	c.exec(`insert into region (id, description, parent_region_id, extra) values ('Ünï ✓', 'dës', 'odd a', '{"x": "\u00fc"}')`)
	for _, path := range []string{"", "/odd%20a", "/odd%20b", "/odd%20c", "/odd%20d", "/%C3%9Cn%C3%AF%20%E2%9C%93", "?parent_region_id=odd%20a"} {
		c.same(t, "odd regions", call{Method: "GET", Path: "/v3/regions" + path, Token: c.admin})
	}
}

// capitalID is D-172: MariaDB finds the capital letters of an id that a token
// holds without them, and so does Python.
func (c *cloud) capitalID(t *testing.T, p *person) {
	c.oddUser(p, capital, "capital", "acme", "child", "{}", true, nil, nil)
	login := m{"auth": m{"scope": "unscoped", "identity": identity(m{"id": capital, "password": p.password})}}
	for _, s := range c.Servers() {
		token := s.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/auth/tokens", Body: login}).Header.Get("X-Subject-Token")
		if there, here := c.validate(c.Python, token).Status, c.validate(c.Go, token).Status; there != http.StatusOK || here != http.StatusNotFound {
			t.Errorf("the token of %s, by %s: Python %d, here %d; want 200 and 404", capital, s.Name, there, here)
		}
	}
}

func clear(t *testing.T, d db.DB, text string) {
	if _, err := d.Exec(context.Background(), text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestBrokenRows: what makes Python break off is answered by us.
func TestBrokenRows(t *testing.T) {
	c := shared(t)
	p := c.person()
	t.Cleanup(func() { clear(t, c.DB, `delete from region where id like 'broken %'`) })
	for i, extra := range []any{nil, "", "null", "[]", `"text"`, "{"} {
		letter := string(rune('a' + i))
		c.exec(`insert into region (id, description, extra) values ($1, '', $2)`, "broken "+letter, extra)
		c.oddUser(p, "broken"+letter, "broken "+letter, p.domain, p.project, extra, true, nil, nil)
		login := m{"auth": m{"scope": p.scope("project"), "identity": identity(m{"id": "broken" + letter, "password": p.password})}}
		for _, do := range []call{
			{Method: "GET", Path: "/v3/regions/broken%20" + letter, Token: c.admin},
			{Method: "POST", Path: "/v3/auth/tokens", Body: login},
		} {
			python := "breaks off"
			if a, err := peer.Send(c.Python.URL, do); err == nil {
				python = a.String()
			}
			if a := c.Go.Do(t, do); a.Status >= 300 {
				t.Errorf("extra %v: %s %s: we answer %v, Python %s", extra, do.Method, do.Path, a, python)
			}
		}
	}
}

// TestOddCatalog: both leave the same endpoints out.
func TestOddCatalog(t *testing.T) {
	c := shared(t)
	p := c.person()
	t.Cleanup(func() {
		clear(t, c.DB, `delete from endpoint where service_id like 'svc%'`)
		clear(t, c.DB, `delete from service where id like 'svc%'`)
	})
	for i, s := range []struct {
		kind    any
		enabled bool
		extra   any
	}{{"odd1", true, "{}"}, {"odd2", true, `{"name": "näme", "description": "d"}`}, {"odd3", false, "{}"}, {nil, true, "{}"}} {
		id := "svc" + string(rune('a'+i))
		c.exec(`insert into service (id, type, enabled, extra) values ($1, $2, $3, $4)`, id, s.kind, s.enabled, s.extra)
		for j, e := range []struct {
			url     string
			enabled bool
			region  any
			extra   any
		}{
			{"http://a/$(tenant_id)s", true, "RegionOne", "{}"},
			{"http://b/%(project_id)s/%(user_id)s", true, nil, "{}"},
			{"http://c/$(nope)s", true, "RegionOne", "{}"},
			{"http://d/%(nope", true, "RegionOne", `{"name": "n"}`},
			{"http://e/100%25", true, "RegionOne", "{}"},
			{"http://f/ü", false, "RegionOne", "{}"},
		} {
			c.exec(`insert into endpoint (id, interface, service_id, url, enabled, region_id, extra) values ($1, $2, $3, $4, $5, $6, $7)`,
				id+string(rune('a'+j)), []string{"public", "internal", "admin"}[j%3], id, e.url, e.enabled, e.region, e.extra)
		}
	}
	for _, scope := range []string{"project", "system", "domain"} {
		c.sameLogin(t, scope, p.byPassword(scope))
	}
}

func identity(user m) m { return m{"methods": []string{"password"}, "password": m{"user": user}} }

// sameLogin has both issue a token or refuse alike. What they say of a token
// is compared on the very token, so that nothing has to be left out.
func (c *cloud) sameLogin(t *testing.T, what string, login m) {
	t.Helper()
	answers := map[string]peer.Answer{}
	for _, s := range c.Servers() {
		answers[s.Name] = s.Do(t, call{Method: "POST", Path: "/v3/auth/tokens", Body: login})
	}
	py, ours := answers["python"], answers["go"]
	if py.Status != ours.Status {
		t.Errorf("%s: Python answers %v\nwe answer %v", what, py, ours)
		return
	}
	if py.Status != http.StatusCreated {
		if d := cmp.Diff(py.Body, ours.Body); d != "" {
			t.Errorf("%s: the refusals differ (-Python +ours):\n%s", what, d)
		}
		return
	}
	for _, s := range c.Servers() {
		token := answers[s.Name].Header.Get("X-Subject-Token")
		if a := c.same(t, what+", by "+s.Name, call{Method: "GET", Path: "/v3/auth/tokens", Token: c.admin, Subject: token}); a.Status == http.StatusOK {
			c.sameToken(t, s, answers[s.Name], token)
		}
	}
}

// dump gives every row of the database, as text, by table.
func dump(t *testing.T, d db.DB) map[string][]string {
	t.Helper()
	text := func(query string) []string {
		rows, err := db.All(t.Context(), d, db.Query[string]{Text: query, Scan: func(r db.Row) (s string, err error) { err = r.Scan(&s); return s, err }})
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		return rows
	}
	out := map[string][]string{}
	tables, err := migrations.AllTables(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		name := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		row := `cast(t.* as text)`
		if d.Dialect() == db.MariaDB {
			columns := text(`select concat('quote("', column_name, '")') from information_schema.columns
				where table_schema = database() and table_name = '` + table + `' order by ordinal_position`)
			row = `concat_ws(', ', ` + strings.Join(columns, ", ") + `)`
		}
		out[table] = text(`select ` + row + ` from ` + name + ` t order by 1`)
	}
	return out
}
