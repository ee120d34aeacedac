package main

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// The large cloud: 10,000 users, 5,000 projects, 50,000 assignments, 500
// endpoints, beside what bootstrap makes.
const (
	manyUsers    = 10000
	manyGroups   = 1000
	manyDomains  = 50
	manyProjects = 5000
	manyServices = 100
	faces        = 5 // endpoints of each service
)

// key is an id as Keystone makes them, of a kind and the number of a row.
func key(kind string, n string) string { return `md5('` + kind + ` ' || (` + n + `))` }

// filling makes the rows in statements of one kind each: the clock of a run of
// seconds would else be that of the driver. A quarter of the projects stands
// below another one; a twentieth of the assignments is inherited.
func filling() []string {
	series := func(n int) string { return fmt.Sprintf(` from generate_series(0, %d) i`, n-1) }
	role := `(select id from role where name = (array['admin', 'manager', 'member', 'reader'])[1 + i % 4])`
	grants := func(kind, actor, target string, n int, inherited string) string {
		return `insert into assignment (type, actor_id, target_id, role_id, inherited) select '` + kind + `', ` + actor + `, ` + target + `, ` + role + `, ` + inherited + series(n)
	}
	domain := key("domain", fmt.Sprintf("i %% %d", manyDomains))
	return []string{
		`insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
select ` + key("domain", "i") + `, 'domain ' || i, '{}', '', true, '<<keystone.domain.root>>', null, true` + series(manyDomains),
		`insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
select ` + key("project", "i") + `, 'project ' || i, '{}', 'The project of team ' || i, true, ` + domain + `,
  case when i >= 3750 then ` + key("project", fmt.Sprintf("i - %d", 3750)) + ` else ` + domain + ` end, false` + series(manyProjects),
		`insert into "user" (id, extra, enabled, default_project_id, created_at, last_active_at, domain_id)
select ` + key("user", "i") + `, '{"email": "user' || i || '@cloud.example", "description": "Made by a script"}', true, ` + key("project", "i % 3750") + `, now() at time zone 'utc', null, ` + domain + series(manyUsers),
		`insert into local_user (user_id, domain_id, name) select id, domain_id, substr(extra::json->>'email', 1, 64) from "user" where extra like '{"email": "user%'`,
		`insert into password (local_user_id, self_service, password_hash, created_at_int, created_at, expires_at_int, expires_at)
select id, false, '$2b$04$' || repeat('x', 53), 1700000000000000 + id, '2023-11-14 22:13:20', 2100000000000000 + id, '2036-07-18 13:20:00' from local_user where name like 'user%@cloud.example'`,
		`insert into "group" (id, domain_id, name, description, extra) select ` + key("group", "i") + `, ` + domain + `, 'group ' || i, '', '{}'` + series(manyGroups),
		`insert into user_group_membership (user_id, group_id) select ` + key("user", "i") + `, ` + key("group", "i % 1000") + series(2*manyGroups),
		grants("UserProject", key("user", "i % 10000"), key("project", "(i * 7 + i / 10000) % 5000"), 40000, "false"),
		grants("GroupProject", key("group", "i % 1000"), key("project", "(i * 3) % 5000"), 5000, "false"),
		grants("UserDomain", key("user", "i"), domain, 2500, "false"),
		grants("UserProject", key("user", "i"), key("project", "i % 1250"), 2400, "true"),
		grants("UserDomain", key("user", "9000 + i"), domain, 100, "true"),
		`insert into service (id, type, enabled, extra) select ` + key("service", "i") + `, 'kind-' || i, true, '{"name": "service ' || i || '", "description": "What it does"}'` + series(manyServices),
		`insert into endpoint (id, interface, service_id, url, extra, enabled, region_id)
select ` + key("endpoint", "i") + `, (array['public', 'internal', 'admin'])[1 + i / 100 % 3], ` + key("service", "i % 100") + `, 'https://service' || i || '.cloud.example/v1/$(project_id)s', '{"name": "endpoint ' || i || '"}', true, 'RegionOne'` + series(manyServices*faces),
		`analyze`,
	}
}

// fill makes the large cloud.
func fill(e *peer.Env) error {
	return e.DB.Tx(context.Background(), func(c db.Conn) error {
		for _, text := range filling() {
			if _, err := c.Exec(context.Background(), text); err != nil {
				return fmt.Errorf("fill the database: %w: %.80s", err, text)
			}
		}
		return nil
	})
}
