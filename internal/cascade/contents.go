package cascade

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Contents are the ids of what a domain holds, as Python Keystone deletes it
// before the domain: projects with those below them first, groups, users.
type Contents struct{ Projects, Groups, Users []string }

// ContentsOf reads them, for those who are told of each.
func ContentsOf(ctx context.Context, c db.Conn, domainID string) (Contents, error) {
	type node struct{ id, parent string }
	var b db.Batch
	nodes := db.Add(&b, db.Query[node]{
		Text: `select id, coalesce(parent_id, '') from project where domain_id = $1 order by id`, Args: []any{domainID},
		Scan: func(r db.Row) (n node, err error) { return n, r.Scan(&n.id, &n.parent) },
	})
	groups := db.Add(&b, idsOf(`select id from "group" where domain_id = $1 order by id`, domainID))
	users := db.Add(&b, idsOf(`select id from "user" where domain_id = $1 order by id`, domainID))
	if err := c.Send(ctx, &b); err != nil {
		return Contents{}, err
	}
	below := map[string][]string{}
	for _, n := range nodes.All() {
		below[n.parent] = append(below[n.parent], n.id)
	}
	out := Contents{Groups: groups.All(), Users: users.All()}
	var walk func(parent string)
	walk = func(parent string) {
		for _, id := range below[parent] {
			walk(id)
			out.Projects = append(out.Projects, id)
		}
	}
	walk(domainID)
	return out, nil
}

func idsOf(text, domainID string) db.Query[string] {
	return db.Query[string]{Text: text, Args: []any{domainID}, Scan: func(r db.Row) (id string, err error) { return id, r.Scan(&id) }}
}
