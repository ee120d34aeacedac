package test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/test/harness"
)

const (
	togetherClients = 32
	togetherCalls   = 100 // each
)

// TestTogether has many clients make and delete the same few things, parents
// under children and roles under grants among them. Whatever the order was in
// the end, nothing is answered 500, nothing is deleted twice, no name is there
// twice, and no row is left that names what has gone.
func TestTogether(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			c := &crowd{Server: harness.New(t, harness.Options{Engine: engine, Conf: func(cfg *conf.Config) {
				cfg.Database.MaxPoolSize, cfg.Database.MaxOverflow = 16, 0
			}}), t: t, known: map[string][]string{}, deleted: map[string]int{}, statuses: map[int]int{}}
			c.admin = c.Admin()
			var clients sync.WaitGroup
			for i := range togetherClients {
				clients.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 7))
					for range togetherCalls {
						c.act(r)
					}
				})
			}
			clients.Wait()
			c.verify()
		})
	}
}

// crowd is what the clients know of what is there.
type crowd struct {
	*harness.Server
	t     *testing.T
	admin string

	mu       sync.Mutex
	known    map[string][]string // ids by kind, gone ones among them
	deleted  map[string]int      // 204 by path
	statuses map[int]int
}

// collections are the kinds of things, each with where it is made.
var collections = map[string]string{
	"domain": "/v3/domains", "project": "/v3/projects", "user": "/v3/users", "group": "/v3/groups", "role": "/v3/roles",
	"region": "/v3/regions", "service": "/v3/services", "endpoint": "/v3/endpoints",
}

func (c *crowd) call(method, path string, body any) harness.Answer {
	a := c.Do(harness.Call{Method: method, Path: path, Token: c.admin, Body: body})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statuses[a.Status]++
	if a.Status >= 500 {
		c.t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	if method == "DELETE" && a.Status == http.StatusNoContent {
		c.deleted[path]++
	}
	return a
}

// some gives an id of a kind, most likely one made lately; "none" without any.
func (c *crowd) some(r *rand.Rand, kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := c.known[kind]
	if len(ids) == 0 {
		return "none"
	}
	return ids[max(0, len(ids)-1-r.IntN(4))]
}

func (c *crowd) act(r *rand.Rand) {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		c.make(r)
	case 4, 5:
		c.remove(r)
	default:
		path := c.relation(r)
		c.call([]string{"PUT", "PUT", "DELETE"}[r.IntN(3)], path, nil)
	}
}

func (c *crowd) make(r *rand.Rand) {
	kinds := []string{"domain", "project", "project", "user", "user", "group", "role", "region", "service", "endpoint"}
	kind := kinds[r.IntN(len(kinds))]
	body := harness.M{"name": fmt.Sprintf("same-%d", r.IntN(2))}
	home := "default"
	if r.IntN(3) == 0 {
		home = c.some(r, "domain")
	}
	switch kind {
	case "project":
		body["domain_id"] = home
		if r.IntN(2) == 0 {
			body["parent_id"] = c.some(r, "project")
			delete(body, "domain_id")
		}
	case "user", "group":
		body["domain_id"] = home
	case "role":
		if home != "default" {
			body["domain_id"] = home
		}
	case "region":
		body = harness.M{"id": fmt.Sprintf("same-%d", r.IntN(3))}
		if r.IntN(2) == 0 {
			body["parent_region_id"] = c.some(r, "region")
		}
	case "service":
		body["type"] = "kind"
	case "endpoint":
		body = harness.M{"interface": "public", "url": "http://x", "service_id": c.some(r, "service"), "region_id": c.some(r, "region")}
	}
	if a := c.call("POST", collections[kind], harness.M{kind: body}); a.Status == http.StatusCreated {
		id, _ := a.At(c.t, kind, "id").(string)
		c.mu.Lock()
		c.known[kind] = append(c.known[kind], id)
		c.mu.Unlock()
	}
}

func (c *crowd) remove(r *rand.Rand) {
	kinds := []string{"domain", "project", "project", "user", "group", "role", "region", "service", "endpoint"}
	kind := kinds[r.IntN(len(kinds))]
	path := collections[kind] + "/" + c.some(r, kind)
	if kind == "domain" {
		c.call("PATCH", path, harness.M{"domain": harness.M{"enabled": false}})
	}
	if a := c.call("DELETE", path, nil); a.Status == http.StatusNoContent && r.IntN(4) > 0 {
		c.mu.Lock()
		c.known[kind] = slices.DeleteFunc(c.known[kind], func(id string) bool { return path == collections[kind]+"/"+id })
		c.mu.Unlock()
	}
}

// relation is the path of something that stands between two things.
func (c *crowd) relation(r *rand.Rand) string {
	of := func(kind string) string { return c.some(r, kind) }
	actor := "/users/" + of("user")
	if r.IntN(3) == 0 {
		actor = "/groups/" + of("group")
	}
	switch r.IntN(8) {
	case 0:
		return "/v3/groups/" + of("group") + "/users/" + of("user")
	case 1:
		return "/v3/domains/" + of("domain") + actor + "/roles/" + of("role")
	case 2:
		return "/v3/system" + actor + "/roles/" + of("role")
	case 3:
		return "/v3/roles/" + of("role") + "/implies/" + of("role")
	case 4:
		return "/v3/OS-EP-FILTER/projects/" + of("project") + "/endpoints/" + of("endpoint")
	case 5:
		return "/v3/OS-INHERIT/projects/" + of("project") + actor + "/roles/" + of("role") + "/inherited_to_projects"
	case 6:
		return "/v3/projects/" + of("project") + "/tags/same"
	}
	return "/v3/projects/" + of("project") + actor + "/roles/" + of("role")
}

func (c *crowd) verify() {
	c.t.Logf("%v", c.statuses)
	if c.statuses[http.StatusCreated] < 50 || c.statuses[http.StatusNoContent] < 50 || c.statuses[http.StatusConflict] < 10 {
		c.t.Errorf("too little came of it: %v", c.statuses)
	}
	for kind, at := range collections {
		for path, n := range c.deleted {
			// The id of a region is its name, which may come again.
			if n > 1 && kind != "region" && strings.HasPrefix(path, at+"/") && strings.Count(path, "/") == 3 {
				c.t.Errorf("%s was deleted %d times", path, n)
			}
		}
		there := map[string]bool{}
		list, _ := c.call("GET", at, nil).At(c.t, kind+"s").([]any)
		for _, item := range list {
			m := item.(harness.M)
			name := fmt.Sprint(m["domain_id"], "/", m["name"])
			if kind != "service" && kind != "endpoint" && kind != "region" && there[name] {
				c.t.Errorf("two of %s are %s", at, name)
			}
			there[name] = true
		}
	}
	orphans, err := migrations.FindOrphans(c.t.Context(), c.DB)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, o := range orphans {
		c.t.Error(o)
	}
}
