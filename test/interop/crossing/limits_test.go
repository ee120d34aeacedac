//go:build interop

package crossing_test

import "github.com/keystone-go/keystone-go/test/interop/peer"

// registered are the fields of a registered limit of a new service.
func registered(c *cloud) m {
	return m{"service_id": c.create("service", "/v3/services", m{"type": name("kind")}), "region_id": "RegionOne", "resource_name": name("cöres"), "default_limit": 7, "description": "dës"}
}

// limited are those of a limit of a new project, for a new registered one.
func limited(c *cloud) m {
	r := registered(c)
	c.made(c.Python, "registered_limits", r)
	return m{
		"service_id": r["service_id"], "region_id": r["region_id"], "resource_name": r["resource_name"],
		"project_id": c.create("project", "/v3/projects", m{"name": name("project"), "domain_id": "default"}), "resource_limit": 5, "description": "dës",
	}
}

// made has a server make one of what is made in lists, and gives its id.
func (c *cloud) made(w *peer.Server, collection string, fields m) string {
	c.t.Helper()
	return c.change(w, "POST", "/v3/"+collection, m{collection: []m{fields}}).Text(collection, 0, "id")
}

// inLists gives the changes of what is made in lists, as plain does.
func inLists(kind, collection string, fields func(c *cloud) m, change m) []write {
	return rowChanges(kind, collection, change, func(c *cloud, w *peer.Server) string { return c.made(w, collection, fields(c)) })
}
