//go:build interop

package crossing_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestCaches has Python remember in memcached by each of its clients. Whatever
// keystone-go writes, Python knows with its next request, and the other way
// round. All changes are made with the first client, which tell what has to be
// deleted; a few with the others, which tell that it is found there.
func TestCaches(t *testing.T) {
	e := peer.Start(t, peer.Options{GoFirst: true, Cache: peer.PyMemcache})
	for _, backend := range []string{peer.PyMemcache, peer.Memcached, peer.PoolOfOwn} {
		t.Run(backend, func(t *testing.T) {
			if backend != peer.PyMemcache {
				if err := e.Cached(backend); err != nil {
					t.Fatal(err)
				}
			}
			c := newCloud(t, e)
			c.remembers()
			if backend == peer.PyMemcache {
				t.Run("list of revocations", newCloud(t, e).listed)
			}
			for _, w := range slices.Concat(voiding, showing) {
				if !served(w.method, w.route) {
					continue
				}
				for _, writer := range e.Servers() {
					if backend != peer.PyMemcache && (writer != e.Go || !slices.Contains(few, w.name)) {
						continue
					}
					t.Run(w.name+" by "+writer.Name, func(t *testing.T) {
						c := newCloud(t, e)
						if len(w.scopes) > 0 {
							w.scopes = []string{"unscoped", "project"}
							c.voided(w, writer)
							return
						}
						p := c.person()
						for _, s := range e.Servers() {
							// So that there is something to be forgotten.
							loginIs(http.StatusCreated)(c, s, p)
						}
						w.do(c, writer, p)
						for _, s := range e.Servers() {
							w.check(c, s, p)
						}
					})
				}
			}
		})
	}
}

var few = []string{"token revoked", "user disabled", "region row changed"}

// remembers makes sure that Python does: a change behind its back, of which no
// cache is told, is not seen.
func (c *cloud) remembers() {
	c.t.Helper()
	id := c.create("region", "/v3/regions", m{"description": "before"})
	read := call{Method: "GET", Path: "/v3/regions/" + id, Token: c.admin}
	c.Python.Want(c.t, http.StatusOK, read)
	c.exec(`update region set description = 'behind' where id = $1`, id)
	if got := c.Python.Want(c.t, http.StatusOK, read).Text("region", "description"); got != "before" {
		c.t.Errorf("Python answers %q: it remembers nothing, and the rest of this test shows nothing", got)
	}
	if got := c.Go.Want(c.t, http.StatusOK, read).Text("region", "description"); got != "behind" {
		c.t.Errorf("keystone-go answers %q, which is out of date", got)
	}
	// A change of ours brings it to light.
	c.Go.Want(c.t, http.StatusOK, call{Method: "PATCH", Path: read.Path, Token: c.admin, Body: m{"region": m{"description": "after"}}})
	if got := c.Python.Want(c.t, http.StatusOK, read).Text("region", "description"); got != "after" {
		c.t.Errorf("after our change Python answers %q", got)
	}
}

// listed: a revocation of ours is in the list of them that Python remembers.
// Nothing else of Python's asks that part of its cache.
func (c *cloud) listed(t *testing.T) {
	events := func() int {
		t.Helper()
		a := c.Python.Want(t, http.StatusOK, call{Method: "GET", Path: "/v3/OS-REVOKE/events", Token: c.admin})
		list, _ := a.At("events").([]any)
		return len(list)
	}
	token := c.Go.Admin(t)
	before := events()
	c.Go.Want(t, http.StatusNoContent, call{Method: "DELETE", Path: "/v3/auth/tokens", Token: c.admin, Subject: token})
	// One of the token, one of what was exchanged for it.
	if got := events(); got != before+2 {
		t.Errorf("Python lists %d revocations, want %d", got, before+2)
	}
}

// TestCacheAway: a memcached that is gone fails no request of ours, and is
// told about when it is back.
func TestCacheAway(t *testing.T) {
	e := peer.Start(t, peer.Options{GoFirst: true, Cache: peer.PyMemcache, NoPython: true})
	token := e.Go.Admin(t)
	if err := e.StopMemcached(); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		e.Go.Want(t, http.StatusCreated, call{Method: "POST", Path: "/v3/regions", Token: token, Body: m{"region": m{"id": fmt.Sprint("r", i)}}})
	}
	metrics := func() string {
		a, err := peer.Send(e.Go.AdminURL, call{Method: "GET", Path: "/metrics"})
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("metrics: %v %v", a, err)
		}
		return a.Body
	}
	if n := metric(t, metrics(), `keystone_cache_invalidations_total{outcome="failed",region="tokens"}`); n < 5 {
		t.Errorf("%v deletions of a region failed by the metrics, want 5 or more", n)
	}
	if n := metric(t, metrics(), "keystone_cache_servers_owing"); n != 1 {
		t.Errorf("%v servers are owed a deletion, want 1", n)
	}
	if err := e.StartMemcached(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the memcached that is back is told", func() bool {
		return metric(t, metrics(), "keystone_cache_servers_owing") == 0
	})
}
