//go:build interop

package crossing_test

import (
	"net/http"
	"slices"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// plain gives the changes of a resource that is rows of its own and nothing
// else.
func plain(kind, collection string, fields func() m, change m) []write {
	return rowChanges(kind, collection, change, func(c *cloud, w *peer.Server) string {
		return c.change(w, "POST", "/v3/"+collection, m{kind: fields()}).Text(kind, "id")
	})
}

// rowChanges are a row made, changed and deleted, each seen by both servers in
// what they answer for it. Before the latter two both have answered, so that
// whoever remembers is told.
func rowChanges(kind, collection string, change m, made func(c *cloud, w *peer.Server) string) []write {
	all, one := "/v3/"+collection, "/v3/"+collection+"/{"+kind+"_id}"
	before := func(c *cloud, p *person) string {
		p.name = made(c, c.Python)
		for _, s := range c.Servers() {
			isAt(all, http.StatusOK)(c, s, p)
		}
		return all + "/" + p.name
	}
	return []write{
		{
			name: kind + " row made", method: "POST", route: all,
			do:    func(c *cloud, w *peer.Server, p *person) { p.name = made(c, w) },
			check: isAt(all, http.StatusOK),
		},
		{
			name: kind + " row changed", method: "PATCH", route: one,
			do:    func(c *cloud, w *peer.Server, p *person) { c.change(w, "PATCH", before(c, p), m{kind: change}) },
			check: isChanged(kind, all, change),
		},
		{
			name: kind + " row deleted", method: "DELETE", route: one,
			do:    func(c *cloud, w *peer.Server, p *person) { c.change(w, "DELETE", before(c, p), nil) },
			check: isAt(all, http.StatusNotFound),
		},
	}
}

// isAt checks that both answer alike for what p.name names.
func isAt(collection string, status int) func(c *cloud, s *peer.Server, p *person) {
	return func(c *cloud, _ *peer.Server, p *person) {
		c.t.Helper()
		if a := c.same(c.t, "afterwards", call{Method: "GET", Path: collection + "/" + p.name, Token: c.admin}); a.Status != status {
			c.t.Errorf("%s/%s is answered by %v, want %d", collection, p.name, a, status)
		}
	}
}

// isChanged checks that both show what was changed of p.name.
func isChanged(kind, collection string, change m) func(c *cloud, s *peer.Server, p *person) {
	return func(c *cloud, s *peer.Server, p *person) {
		c.t.Helper()
		isAt(collection, http.StatusOK)(c, s, p)
		a := c.by(s, http.StatusOK, "GET", collection+"/"+p.name, nil)
		for k, want := range change {
			if got := a.At(kind, k); got != want {
				c.t.Errorf("%s of the %s at %s is %v, want %v", k, kind, s.Name, got, want)
			}
		}
	}
}

// showing are all changes that show in what the other server answers.
var showing = slices.Concat(
	inTokens, inConfig, inCredentials,
	plain("credential", "credentials", func() m {
		return m{"type": "cert", "user_id": name("user"), "blob": name("sécret"), "more": m{"a": 1.5}}
	}, m{"blob": "chänged"}),
	plain("region", "regions", func() m {
		return m{"id": name("region"), "description": "dës", "parent_region_id": "RegionOne", "more": m{"a": 1.5}}
	}, m{"description": "changed"}),
	plain("service", "services", func() m {
		return m{"type": name("kind"), "name": "nämé", "description": "dës", "more": m{"a": 1.5}}
	}, m{"description": "changed", "enabled": false}),
	plain("policy", "policies", func() m {
		return m{"type": "text/plain", "blob": name("blöb"), "more": m{"a": 1.5}}
	}, m{"blob": "changed", "type": "changed"}),
	plain("domain", "domains", func() m {
		return m{"name": name("dömain"), "description": "dës", "enabled": false, "more": m{"a": 1.5}}
	}, m{"description": "changed"}),
	plain("project", "projects", func() m {
		return m{"name": name("pröject"), "domain_id": "default", "description": "dës", "tags": []string{"ä", "b"}, "more": m{"a": 1.5}}
	}, m{"description": "changed", "enabled": false}),
	plain("user", "users", func() m {
		return m{"name": name("üser"), "domain_id": "default", "description": "dës", "more": m{"a": 1.5}}
	}, m{"description": "changed", "enabled": false}),
	plain("group", "groups", func() m {
		return m{"name": name("gröup"), "domain_id": "default", "description": "dës"}
	}, m{"description": "changed"}),
	plain("role", "roles", func() m {
		return m{"name": name("röle"), "description": "dës", "more": m{"a": 1.5}}
	}, m{"description": "changed"}),
	inLists("registered_limit", "registered_limits", registered, m{"description": "changed", "default_limit": 9.0}),
	inLists("limit", "limits", limited, m{"description": "changed", "resource_limit": 9.0}),
)
