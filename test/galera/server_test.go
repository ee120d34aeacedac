//go:build galera

package galera_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/test/harness"
)

const attempts = 3 // that lock an account

// server starts a server on a node, with wsrep_sync_wait if it is not nil.
func (s *stand) server(t *testing.T, node int, keys string, syncWait *int, bare bool) *harness.Server {
	t.Helper()
	return harness.New(t, harness.Options{URL: s.url(node), Keys: keys, Bare: bare, Conf: func(c *conf.Config) {
		c.Database.MysqlWsrepSyncWait = syncWait
		c.SecurityCompliance.LockoutFailureAttempts = new(attempts)
		c.Database.MaxPoolSize, c.Database.MaxOverflow = 8, 0
	}})
}

// servers are one on each node, with one folder of keys.
func (s *stand) servers(t *testing.T) []*harness.Server {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := fernet.Setup(keys, fernet.Owner{UID: -1, GID: -1}); err != nil {
		t.Fatal(err)
	}
	out := make([]*harness.Server, nodes)
	for i := range out {
		out[i] = s.server(t, i, keys, new(1), i > 0)
	}
	return out
}

func want(t *testing.T, s *harness.Server, status int, c harness.Call) harness.Answer {
	t.Helper()
	a := s.Do(c)
	if a.Status != status {
		t.Fatalf("%s %s: got %d %s, want %d", c.Method, c.Path, a.Status, a.Body, status)
	}
	return a
}

func validation(by, of string) harness.Call {
	return harness.Call{Method: "GET", Path: "/v3/auth/tokens", Token: by, Subject: of}
}

// user makes one with a role on the project admin.
func user(t *testing.T, s *harness.Server, admin, name string) string {
	t.Helper()
	id := want(t, s, 201, harness.Call{Method: "POST", Path: "/v3/users", Token: admin, Body: harness.M{"user": harness.M{"name": name, "password": "pw-" + name}}}).At(t, "user", "id").(string)
	project := want(t, s, 200, harness.Call{Method: "GET", Path: "/v3/projects?name=admin", Token: admin}).At(t, "projects", 0, "id").(string)
	role := want(t, s, 200, harness.Call{Method: "GET", Path: "/v3/roles?name=member", Token: admin}).At(t, "roles", 0, "id").(string)
	want(t, s, 204, harness.Call{Method: "PUT", Path: "/v3/projects/" + project + "/users/" + id + "/roles/" + role, Token: admin})
	return id
}

// TestNothingStale: what was answered at one node is known at another with the
// next request, though the node has not got it yet, and though the server was
// asked the same before.
func TestNothingStale(t *testing.T) {
	s := newStand(t)
	all := s.servers(t)
	one, other := all[0], all[1]
	careless := s.server(t, 1, one.Conf.FernetTokens.KeyRepository, nil, true)
	admin := one.Admin()
	id := user(t, one, admin, "known")
	const hold = 300 * time.Millisecond

	t.Run("a revocation", func(t *testing.T) {
		token := one.Token("known", "pw-known", harness.OnProject("admin"))
		for range 5 { // so that there is something to be remembered
			want(t, other, 200, validation(admin, token))
			want(t, careless, 200, validation(admin, token))
		}
		answer := make(chan harness.Answer, 1)
		s.behind(t, 1, func() {
			want(t, one, 204, harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: token})
			if a := careless.Do(validation(admin, token)); a.Status != 200 {
				t.Errorf("without wsrep_sync_wait: %d: the node is not behind, and the rest shows nothing", a.Status)
			}
			go func() { answer <- other.Do(validation(admin, token)) }()
			time.Sleep(hold)
		})
		if a := <-answer; a.Status != 404 {
			t.Errorf("a revoked token: %d %s", a.Status, a.Body)
		}
	})
	t.Run("a lock", func(t *testing.T) {
		login := harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("known", "pw-known", nil)}
		wrong := harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("known", "wrong", nil)}
		want(t, other, 201, login)
		answer := make(chan harness.Answer, 1)
		s.behind(t, 1, func() {
			for range attempts {
				want(t, one, 401, wrong)
			}
			want(t, careless, 201, login)
			go func() { answer <- other.Do(login) }()
			time.Sleep(hold)
		})
		if a := <-answer; a.Status != 401 {
			t.Errorf("the right password of a locked account: %d", a.Status)
		}
		exec(t, one.DB, `update local_user set failed_auth_count = 0 where user_id = $1`, id)
	})
	t.Run("one after the other", func(t *testing.T) {
		for i := range 30 {
			token := all[i%nodes].Token("known", "pw-known", harness.OnProject("admin"))
			for _, server := range all {
				want(t, server, 200, validation(admin, token))
			}
			want(t, all[(i+1)%nodes], 204, harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: token})
			for n, server := range all {
				if a := server.Do(validation(admin, token)); a.Status != 404 {
					t.Fatalf("round %d: a revoked token at node %d: %d", i, n, a.Status)
				}
			}
		}
	})
	t.Run("failures count together", func(t *testing.T) {
		for i := range 10 {
			name := fmt.Sprint("locked", i)
			user(t, all[i%nodes], admin, name)
			for n := range attempts {
				want(t, all[n%nodes], 401, harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login(name, "wrong", nil)})
			}
			for _, server := range all {
				want(t, server, 401, harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login(name, "pw-"+name, nil)})
			}
		}
	})
}

// crowd is a load, and what it was told.
type crowd struct {
	*stand
	t       *testing.T
	servers []*harness.Server
	admin   string

	mu       sync.Mutex
	statuses map[int]int
	made     map[string]bool // services by name; false: nobody can tell
	revoked  []string
	slowest  time.Duration
}

// ask makes a call that may be answered as wanted, or by 503.
func (c *crowd) ask(node, status int, call harness.Call) (a harness.Answer, ok bool) {
	begin := time.Now()
	a = c.servers[node].Do(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slowest = max(c.slowest, time.Since(begin))
	c.statuses[a.Status]++
	if a.Status != status && a.Status != http.StatusServiceUnavailable {
		c.t.Errorf("node %d: %s %s: %d %s", node, call.Method, call.Path, a.Status, a.Body)
	}
	return a, a.Status == status
}

// round makes a service, which may be there twice under its name, and a token,
// which it revokes.
func (c *crowd) round(node int, name string) {
	_, ok := c.ask(node, 201, harness.Call{Method: "POST", Path: "/v3/services", Token: c.admin, Body: harness.M{"service": harness.M{"name": name, "type": "load"}}})
	c.mu.Lock()
	c.made[name] = ok
	c.mu.Unlock()
	a, ok := c.ask(node, 201, harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("load", "pw-load", harness.OnProject("admin"))})
	if !ok {
		return
	}
	token := a.Header.Get("X-Subject-Token")
	c.ask(node, 200, validation(c.admin, token))
	if _, ok := c.ask(node, 204, harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: token}); ok {
		c.ask(node, 404, validation(c.admin, token))
		c.mu.Lock()
		c.revoked = append(c.revoked, token)
		c.mu.Unlock()
	}
}

// during keeps the load up while f runs.
func (c *crowd) during(f func()) {
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for node := range nodes {
		for w := range 2 {
			clients.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						c.round(node, fmt.Sprintf("%d.%d.%d", node, w, i))
					}
				}
			})
		}
	}
	f()
	close(stop)
	clients.Wait()
}

// verify looks at a node for what was acknowledged.
func (c *crowd) verify(node int) {
	c.t.Helper()
	list, _ := want(c.t, c.servers[node], 200, harness.Call{Method: "GET", Path: "/v3/services?type=load", Token: c.admin}).At(c.t, "services").([]any)
	found := map[string]int{}
	for _, v := range list {
		name, _ := v.(map[string]any)["name"].(string)
		if found[name]++; found[name] == 2 {
			c.t.Errorf("node %d: %s was made twice", node, name)
		}
	}
	acked := 0
	for name, sure := range c.made {
		if sure && found[name] == 0 {
			c.t.Errorf("node %d: %s was acknowledged and is lost", node, name)
		}
		if sure {
			acked++
		}
	}
	for _, token := range c.revoked {
		if a := c.servers[node].Do(validation(c.admin, token)); a.Status != 404 {
			c.t.Errorf("node %d: a token whose revocation was acknowledged: %d", node, a.Status)
		}
	}
	if acked < 20 || len(c.revoked) < 20 {
		c.t.Errorf("%d services and %d revocations: that is no load", acked, len(c.revoked))
	}
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{stand: newStand(t), t: t, statuses: map[int]int{}, made: map[string]bool{}}
	c.servers = c.stand.servers(t)
	c.admin = c.servers[0].Admin()
	user(t, c.servers[0], c.admin, "load")
	return c
}

func (c *crowd) figures() {
	for _, status := range slices.Sorted(maps.Keys(c.statuses)) {
		c.t.Logf("figure: %d answers of %d", c.statuses[status], status)
	}
	c.t.Logf("figure: %d services and %d revocations; the slowest answer took %s", len(c.made), len(c.revoked), c.slowest.Round(time.Millisecond))
}

// TestNodeKilled ends a node under load, by SIGKILL, and has it join again.
func TestNodeKilled(t *testing.T) {
	c := newCrowd(t)
	last := nodes - 1
	c.during(func() {
		time.Sleep(4 * time.Second)
		if err := c.Nodes[last].Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * time.Second)
	})
	c.figures()
	if c.statuses[503] == 0 {
		t.Error("nobody noticed")
	}
	for node := range last {
		c.verify(node)
	}
	if a := c.servers[last].Do(validation(c.admin, c.admin)); a.Status != 503 {
		t.Errorf("a server without its node: %d", a.Status)
	}
	if err := c.Nodes[last].Join(); err != nil {
		t.Fatal(err)
	}
	c.caughtUp(t, last)
	c.verify(last)
}

// TestNodeApart cuts a node off, which goes on running: its server says nothing
// that is out of date, and works again when the node is back.
func TestNodeApart(t *testing.T) {
	c := newCrowd(t)
	last := nodes - 1
	root := c.on(t, last, db.Config{MaxPoolSize: 1})
	token := c.servers[0].Token("load", "pw-load", harness.OnProject("admin"))
	want(t, c.servers[last], 200, validation(c.admin, token))
	exec(t, root, `set global wsrep_provider_options = 'gmcast.isolate=1'`)
	want(t, c.servers[0], 204, harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: token})
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if a := c.servers[last].Do(validation(c.admin, token)); a.Status != 503 {
			t.Fatalf("a token that was revoked elsewhere, at a node that is apart: %d %s", a.Status, a.Body)
		}
	}
	if a := c.servers[last].Do(harness.Call{Method: "POST", Path: "/v3/regions", Token: c.admin, Body: harness.M{"region": harness.M{"id": "apart"}}}); a.Status != 503 {
		t.Errorf("a write at a node that is apart: %d %s", a.Status, a.Body)
	}
	exec(t, root, `set global wsrep_provider_options = 'gmcast.isolate=0'`)
	c.caughtUp(t, last)
	want(t, c.servers[last], 404, validation(c.admin, token))
	want(t, c.servers[last], 201, harness.Call{Method: "POST", Path: "/v3/regions", Token: c.admin, Body: harness.M{"region": harness.M{"id": "back"}}})
	for node := range nodes {
		want(t, c.servers[node], 200, harness.Call{Method: "GET", Path: "/v3/regions/back", Token: c.admin})
		want(t, c.servers[node], 404, harness.Call{Method: "GET", Path: "/v3/regions/apart", Token: c.admin})
	}
}
