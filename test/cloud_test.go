package test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/resource"
	"github.com/keystone-go/keystone-go/test/harness"
)

// acme is the id of a second domain.
const acme = "acee0000000000000000000000000000"

// people are the users of a cloud: domain, and role@scope.
var people = []struct{ name, domain, grants string }{
	{"ana", "default", "member@p1 member@p2"},
	{"ben", "default", "member@p1"},
	{"mia", "default", "manager@default"},
	{"rex", "default", "reader@system reader@default"},
	{"svc", "default", "service@p1"},
	{"ole", acme, "manager@" + acme},
	{"dan", acme, "admin@" + acme},
}

// cloud is a server after bootstrap with two domains, default and acme, the
// projects p1 and p2 of default, and people, whose passwords are their names
// with -pw behind them.
type cloud struct {
	*harness.Server
	t      *testing.T
	engine string
	ids    map[string]string // users, projects and roles by name
	ahead  *atomic.Int64     // what its clock is ahead of the true one; the limits' clock stands still but for this
}

// eachCloud runs f on every engine; set may be nil.
func eachCloud(t *testing.T, set func(*conf.Config), f func(c *cloud)) {
	t.Helper()
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) { f(newCloud(t, harness.Options{Engine: engine, Conf: set})) })
	}
}

func newCloud(t *testing.T, o harness.Options) *cloud {
	t.Helper()
	c := &cloud{t: t, engine: o.Engine, ids: map[string]string{}, ahead: &atomic.Int64{}}
	o.Now, o.Tick = c.now, c.tick
	c.Server = harness.New(t, o)
	c.settle()
	return c
}

// again is another server on the same database and keys, with other options.
func (c *cloud) again(set func(*conf.Config)) *cloud {
	c.t.Helper()
	d := *c
	d.Server = harness.New(c.t, harness.Options{
		DB: c.DB, Keys: c.Conf.FernetTokens.KeyRepository, Bare: true, Conf: set, Now: c.now, Tick: c.tick,
	})
	return &d
}

func (c *cloud) now() time.Time            { return time.Now().Add(c.tick()) }
func (c *cloud) tick() time.Duration       { return time.Duration(c.ahead.Load()) }
func (c *cloud) pass(d time.Duration)      { c.ahead.Add(int64(d)) }
func (c *cloud) userPath(of string) string { return "/v3/users/" + c.ids[of] }

func (c *cloud) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cloud) settle() {
	c.t.Helper()
	ctx := context.Background()
	for _, name := range []string{"admin", "manager", "member", "reader", "service"} {
		r, err := db.One(ctx, c.DB, assignment.RolesByName(name))
		c.must(err)
		c.ids[name] = r.ID
	}
	c.must(resource.CreateDomain(ctx, c.DB, resource.Domain{ID: acme, Name: "acme", Enabled: true}))
	for i, name := range []string{"p1", "p2"} {
		c.ids[name] = strings.Repeat(string(rune('1'+i)), 32)
		c.must(resource.CreateProject(ctx, c.DB, resource.Project{ID: c.ids[name], Name: name, DomainID: "default", Enabled: true}))
	}
	for _, p := range people {
		c.create(p.name, p.domain)
		for grant := range strings.FieldsSeq(p.grants) {
			c.grant(p.name, grant)
		}
	}
	admin, err := db.One(ctx, c.DB, identity.AccountByName("admin", "default"))
	c.must(err)
	c.ids["admin user"] = admin.ID
}

func (c *cloud) create(name, domain string) string {
	c.t.Helper()
	password := name + "-pw"
	pw := &password
	v, err := c.Users.Create(context.Background(), domain, identity.Change{Name: &name, Password: &pw})
	c.must(err)
	c.ids[name] = v.Account.ID
	return v.Account.ID
}

// grant gives a role: "member@p1", "admin@system", "manager@default".
func (c *cloud) grant(user, text string) {
	c.t.Helper()
	role, scope, _ := strings.Cut(text, "@")
	ctx, actor, roleID := context.Background(), assignment.Actor{ID: c.ids[user]}, c.ids[role]
	switch {
	case scope == "system":
		c.must(assignment.GrantOnSystem(ctx, c.DB, actor, roleID))
	case c.ids[scope] != "":
		c.must(assignment.GrantOnProject(ctx, c.DB, actor, c.ids[scope], roleID, false))
	default:
		c.must(assignment.GrantOnDomain(ctx, c.DB, actor, scope, roleID, false))
	}
}

func (c *cloud) sql(text string, args ...any) {
	c.t.Helper()
	_, err := c.DB.Exec(context.Background(), text, args...)
	c.must(err)
}

// update changes a user as the administrator, and wants a 200.
func (c *cloud) update(user, change string) harness.Answer {
	c.t.Helper()
	a := c.call("PATCH", c.userPath(user), c.Admin(), `{"user":`+change+`}`)
	c.status("change "+user+" by "+change, a, 200)
	return a
}

// change is a user's own change of his password.
func (c *cloud) change(user, original, password string) harness.Answer {
	c.t.Helper()
	return c.call("POST", c.userPath(user)+"/password", "", harness.M{"user": harness.M{"original_password": original, "password": password}})
}

// expire makes the passwords of a user expire an hour ago.
func (c *cloud) expire(user string) {
	c.t.Helper()
	at := c.now().Add(-time.Hour).UTC()
	c.sql(`update password set expires_at = $1, expires_at_int = $2 where local_user_id = (select l.id from local_user l where l.user_id = $3)`,
		at, at.UnixMicro(), c.ids[user])
}

// scopeOf is the scope of a login by name: a project, "system", "unscoped" or
// the id of a domain; "" asks for none.
func (c *cloud) scopeOf(name string) any {
	switch {
	case name == "":
		return nil
	case name == "system":
		return harness.M{"system": harness.M{"all": true}}
	case name == "unscoped":
		return "unscoped"
	case name == "admin":
		return harness.OnProject("admin")
	case c.ids[name] != "":
		return harness.M{"project": harness.M{"id": c.ids[name]}}
	}
	return harness.M{"domain": harness.M{"id": name}}
}

// try logs in by id.
func (c *cloud) try(user, password, scope string) harness.Answer {
	c.t.Helper()
	id := c.ids[user]
	if id == "" {
		id = user
	}
	auth := harness.M{"identity": harness.M{"methods": []string{"password"}, "password": harness.M{"user": harness.M{"id": id, "password": password}}}}
	if s := c.scopeOf(scope); s != nil {
		auth["scope"] = s
	}
	return c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.M{"auth": auth}})
}

// as gives a token of one of the people.
func (c *cloud) as(user, scope string) string {
	c.t.Helper()
	a := c.try(user, user+"-pw", scope)
	c.status("login of "+user, a, 201)
	return a.Header.Get("X-Subject-Token")
}

// exchange logs in with a token.
func (c *cloud) exchange(token, scope string) harness.Answer {
	c.t.Helper()
	auth := harness.M{"identity": harness.M{"methods": []string{"token"}, "token": harness.M{"id": token}}}
	if s := c.scopeOf(scope); s != nil {
		auth["scope"] = s
	}
	return c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.M{"auth": auth}})
}

func (c *cloud) call(method, path, token string, body any) harness.Answer {
	c.t.Helper()
	return c.Do(harness.Call{Method: method, Path: path, Token: token, Body: body})
}

// validate is GET /v3/auth/tokens by the caller about the subject.
func (c *cloud) validate(caller, subject, query string) harness.Answer {
	c.t.Helper()
	return c.Do(harness.Call{Method: "GET", Path: "/v3/auth/tokens" + query, Token: caller, Subject: subject})
}

func (c *cloud) status(what string, a harness.Answer, want int) {
	c.t.Helper()
	if a.Status != want {
		c.t.Fatalf("%s: status %d, want %d: %.400s", what, a.Status, want, a.Body)
	}
}

// bare401 is what whoever may not know more is told.
const bare401 = `{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}` + "\n"

func (c *cloud) bare(what string, a harness.Answer) {
	c.t.Helper()
	c.status(what, a, 401)
	if a.Body != bare401 {
		c.t.Errorf("%s: body %q, want the bare 401", what, a.Body)
	}
}

// headerNames are the names of an answer's headers, sorted.
func headerNames(a harness.Answer) string {
	return strings.Join(slices.Sorted(maps.Keys(a.Header)), " ")
}

// message is the text of an error.
func message(t *testing.T, a harness.Answer) string {
	t.Helper()
	s, _ := a.At(t, "error", "message").(string)
	return s
}
