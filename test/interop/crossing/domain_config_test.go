//go:build interop

package crossing_test

import (
	"net/http"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

const configRoute = "/v3/domains/{domain_id}/config"

// configPath is that of the options of the person's domain. Python remembers
// them when it is asked to set them, also where it refuses.
func (c *cloud) configPath(p *person) string {
	path := p.fill(configRoute)
	for _, s := range c.Servers() {
		c.by(s, http.StatusForbidden, "PUT", path, m{"config": m{}})
	}
	return path
}

func (c *cloud) setConfig(s *peer.Server, path string) {
	c.change(s, "PUT", path, m{"config": m{"ldap": m{"url": "ldap://%(password)s", "user": "é", "password": name("pw")}}})
}

// configIs checks what both show, and by what a server answers to a set whether
// it knows that there are options.
func configIs(shown, set int) func(c *cloud, s *peer.Server, p *person) {
	return func(c *cloud, s *peer.Server, p *person) {
		c.t.Helper()
		path := p.fill(configRoute)
		if a := c.same(c.t, "the options", call{Method: "GET", Path: path, Token: c.admin}); a.Status != shown {
			c.t.Errorf("the options of the domain: %v, want %d", a, shown)
		}
		c.by(s, set, "PUT", path, m{"config": m{"ldap": m{"url": "x"}}})
		if set == http.StatusCreated {
			c.by(s, http.StatusNoContent, "DELETE", path, nil)
		}
	}
}

// inConfig are changes of what a domain sets for itself.
var inConfig = []write{
	{
		name: "domain's options set", method: "PUT", route: configRoute,
		do:    func(c *cloud, w *peer.Server, p *person) { c.setConfig(w, c.configPath(p)) },
		check: configIs(http.StatusOK, http.StatusOK),
	},
	{
		name: "domain's option changed", method: "PATCH", route: configRoute,
		do: func(c *cloud, w *peer.Server, p *person) {
			c.change(w, "PATCH", c.configPath(p), m{"config": m{"identity": m{"list_limit": 5}}})
		},
		check: configIs(http.StatusOK, http.StatusOK),
	},
	{
		name: "domain's options removed", method: "DELETE", route: configRoute,
		do: func(c *cloud, w *peer.Server, p *person) {
			for _, s := range c.Servers() {
				c.setConfig(s, p.fill(configRoute))
			}
			c.change(w, "DELETE", c.configPath(p), nil)
		},
		check: configIs(http.StatusNotFound, http.StatusCreated),
	},
}
