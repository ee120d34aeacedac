package test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/resource"
	"github.com/keystone-go/keystone-go/test/harness"
)

// budget is what a kind of request may cost: round trips, statements and
// writes among them.
type budget struct{ trips, statements, writes int }

// statement is a row of the one table of statement counts.
type statement struct {
	name string
	// setup brings the database into the state that the row is about.
	setup  func(*counted)
	call   func(*counted) harness.Call
	status int
	want   budget
}

type counted struct {
	*harness.Server
	count          *dbtest.Counter
	t              *testing.T
	admin, subject string
}

func login(name, password string, scope any) func(*counted) harness.Call {
	return func(*counted) harness.Call {
		return harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login(name, password, scope)}
	}
}

func exec(text string, args ...any) func(*counted) {
	return func(c *counted) {
		if _, err := c.DB.Exec(context.Background(), text, args...); err != nil {
			c.t.Fatal(err)
		}
	}
}

func validation(query, caller, subject string) func(*counted) harness.Call {
	return func(c *counted) harness.Call {
		pick := func(which string) string {
			switch which {
			case "admin":
				return c.admin
			case "subject":
				return c.subject
			}
			return which
		}
		return harness.Call{Method: "GET", Path: "/v3/auth/tokens" + query, Token: pick(caller), Subject: pick(subject)}
	}
}

var (
	onAdmin   = harness.OnProject("admin")
	neverSeen = exec(`update "user" set last_active_at = $1`, nil)
	failed    = exec(`update local_user set failed_auth_count = $1`, 2)
)

var statements = []statement{
	{name: "discovery", call: get("/v3"), status: 200},
	{name: "validation, two tokens, catalog", call: validation("", "admin", "subject"), status: 200, want: budget{1, 8, 0}},
	{name: "validation without catalog", call: validation("?nocatalog", "admin", "subject"), status: 200, want: budget{1, 6, 0}},
	{name: "validation of oneself", call: validation("", "admin", "admin"), status: 200, want: budget{1, 7, 0}},
	{name: "validation of rubbish", call: validation("", "admin", "rubbish"), status: 404, want: budget{1, 5, 0}},
	{name: "validation by rubbish", call: validation("", "rubbish", "subject"), status: 401},
	{name: "login", call: login("admin", harness.Password, onAdmin), status: 201, want: budget{2, 8, 0}},
	{name: "login to the default project", call: login("user", "user-pw", nil), status: 201, want: budget{2, 8, 0}},
	{name: "login, first of the day", setup: neverSeen, call: login("admin", harness.Password, onAdmin), status: 201, want: budget{3, 9, 1}},
	{name: "login after failures", setup: failed, call: login("admin", harness.Password, onAdmin), status: 201, want: budget{3, 8, 1}},
	{name: "login after failures, first of the day", setup: func(c *counted) { failed(c); neverSeen(c) }, call: login("admin", harness.Password, onAdmin), status: 201, want: budget{3, 9, 2}},
	{name: "login, wrong password", call: login("admin", "wrong", onAdmin), status: 401, want: budget{2, 4, 1}},
	{name: "login, unknown user", call: login("nobody", "wrong", onAdmin), status: 401, want: budget{1, 3, 0}},
	{name: "login, unknown scope", call: login("admin", harness.Password, harness.OnProject("none")), status: 401, want: budget{1, 3, 0}},
	{name: "revocation", call: func(c *counted) harness.Call {
		return harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: c.subject}
	}, status: 204, want: budget{2, 10, 4}},
	{name: "list of regions", call: get("/v3/regions"), status: 200, want: budget{2, 6, 0}},
	{name: "list of credentials", call: get("/v3/credentials"), status: 200, want: budget{2, 6, 0}},
	{name: "list of revocations", call: get("/v3/OS-REVOKE/events"), status: 200, want: budget{2, 6, 0}},
	{name: "list of users", call: get("/v3/users"), status: 200, want: budget{2, 8, 0}},
	{name: "list of projects", call: get("/v3/projects"), status: 200, want: budget{2, 8, 0}},
	{name: "list of domains", call: get("/v3/domains"), status: 200, want: budget{2, 8, 0}},
	{name: "list of groups", call: get("/v3/groups"), status: 200, want: budget{2, 6, 0}},
	{name: "list of roles", call: get("/v3/roles"), status: 200, want: budget{2, 7, 0}},
	{name: "list of services", call: get("/v3/services"), status: 200, want: budget{2, 6, 0}},
	{name: "list of endpoints", call: get("/v3/endpoints"), status: 200, want: budget{2, 6, 0}},
	{name: "catalog", call: get("/v3/auth/catalog"), status: 200, want: budget{1, 7, 0}},
	{name: "role assignments", call: get("/v3/role_assignments"), status: 200, want: budget{2, 7, 0}},
	{name: "role assignments, effective", call: get("/v3/role_assignments?effective"), status: 200, want: budget{2, 9, 0}},
	{name: "role assignments, effective, names", call: get("/v3/role_assignments?effective&include_names"), status: 200, want: budget{3, 13, 0}},
	{name: "list of own projects", call: get("/v3/auth/projects"), status: 200, want: budget{2, 9, 0}},
	{name: "projects of a user", call: ofUser("/v3/users/%s/projects"), status: 200, want: budget{3, 11, 0}},
	{name: "groups of a user", call: ofUser("/v3/users/%s/groups"), status: 200, want: budget{3, 10, 0}},
	{name: "role assignments of a user, effective", call: ofUser("/v3/role_assignments?effective&user.id=%s"), status: 200, want: budget{2, 10, 0}},
	{name: "list of own domains", call: get("/v3/auth/domains"), status: 200, want: budget{2, 9, 0}},
}

func get(path string) func(*counted) harness.Call {
	return func(c *counted) harness.Call { return harness.Call{Method: "GET", Path: path, Token: c.admin} }
}

func ofUser(path string) func(*counted) harness.Call {
	return func(c *counted) harness.Call {
		u, err := db.One(c.t.Context(), c.DB, identity.AccountByName("user", "default"))
		if err != nil {
			c.t.Fatal(err)
		}
		return harness.Call{Method: "GET", Path: fmt.Sprintf(path, u.ID), Token: c.admin}
	}
}

// TestStatementCounts pins what each kind of request asks of the database,
// with few rows and with many.
func TestStatementCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		counter := dbtest.Count(t, d)
		three := 3
		s := harness.New(t, harness.Options{DB: counter, Conf: func(c *conf.Config) {
			c.SecurityCompliance.LockoutFailureAttempts = &three
			c.KeystoneGo.RememberReads = false
		}})
		c := &counted{Server: s, count: counter, t: t}
		c.populate(1)
		c.run("few rows")
		c.populate(60)
		c.run("many rows")
	})
}

func (c *counted) run(size string) {
	for _, row := range statements {
		c.t.Run(size+"/"+row.name, func(t *testing.T) {
			clear := exec(`update local_user set failed_auth_count = $1, failed_auth_at = $2`, 0, nil)
			clear(c)
			c.admin = c.Server.Admin()
			c.subject = c.Token("user", "user-pw", onAdmin)
			if row.setup != nil {
				row.setup(c)
			}
			call := row.call(c)
			c.count.Reset()
			a := c.Do(call)
			got := budget{c.count.RoundTrips, c.count.Statements, c.count.Writes}
			if a.Status != row.status {
				t.Errorf("status %d, want %d: %.300s", a.Status, row.status, a.Body)
			}
			if got != row.want {
				t.Errorf("%d round trips, %d statements, %d writes; want %+v:\n%s", got.trips, got.statements, got.writes, row.want, strings.Join(c.count.Texts, "\n---\n"))
			}
		})
	}
}

// populate adds n of everything that a request reads lists of.
func (c *counted) populate(n int) {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			c.t.Helper()
			c.t.Fatal(err)
		}
	}
	account, err := db.One(ctx, c.DB, identity.AccountByName("user", "default"))
	project, err2 := db.One(ctx, c.DB, resource.ProjectByName("admin", "default"))
	check(err2)
	if err != nil {
		name, password, home := "user", "user-pw", project.ID
		pw, def := &password, &home
		v, err := c.Users.Create(ctx, "default", identity.Change{Name: &name, Password: &pw, DefaultProject: &def})
		check(err)
		account = v.Account
	}
	role, err := db.One(ctx, c.DB, assignment.RolesByName("admin"))
	check(err)
	for i := range n {
		p := resource.Project{ID: uuid.Hex(), Name: fmt.Sprintf("p%d-%d", n, i), DomainID: "default", Enabled: true}
		check(resource.CreateProject(ctx, c.DB, p))
		g := identity.Group{ID: uuid.Hex(), Name: fmt.Sprintf("g%d-%d", n, i), DomainID: "default"}
		check(identity.CreateGroup(ctx, c.DB, g))
		check(identity.AddToGroup(ctx, c.DB, account.ID, g.ID))
		check(assignment.GrantOnProject(ctx, c.DB, assignment.Actor{ID: g.ID, Group: true}, project.ID, role.ID, false))
		check(assignment.GrantOnProject(ctx, c.DB, assignment.Actor{ID: account.ID}, p.ID, role.ID, false))
		svc := catalog.Service{ID: uuid.Hex(), Type: new(fmt.Sprintf("s%d-%d", n, i)), Enabled: true}
		check(catalog.CreateService(ctx, c.DB, svc))
		check(catalog.CreateEndpoint(ctx, c.DB, catalog.Endpoint{ID: uuid.Hex(), ServiceID: svc.ID, Interface: "public", URL: "http://x/", Enabled: true}))
		check(catalog.Regions{DB: c.DB}.Create(ctx, catalog.Region{ID: fmt.Sprintf("r%d-%d", n, i)}))
	}
}
