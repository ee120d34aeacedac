package assignment

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// CreateRole stores a role and, when immutable, its option.
func CreateRole(ctx context.Context, c db.Conn, r Role, immutable bool) error {
	domainID, extra := r.DomainID, r.Extra
	if domainID == "" {
		domainID = NoDomain
	}
	if extra == "" {
		extra = "{}"
	}
	var b db.Batch
	b.Exec(`insert into role (id, name, extra, domain_id, description) values ($1, $2, $3, $4, $5)`,
		r.ID, r.Name, extra, domainID, r.Description)
	if immutable {
		b.Exec(`insert into role_option (role_id, option_id, option_value) values ($1, $2, $3)`, r.ID, resource.OptionImmutable, "true")
	}
	err := c.Send(ctx, &b)
	if errors.Is(err, db.ErrDuplicate) {
		return nameTaken(r.Name, r.DomainID)
	}
	if err != nil {
		return fmt.Errorf("create role %s: %w", r.Name, err)
	}
	return nil
}

// nameTaken is told with the domain, where that is said of the role.
func nameTaken(name, domainID string) error {
	if domainID == "" {
		return fault.Duplicate("role", "Duplicate entry found with name %s", name)
	}
	return fault.Duplicate("role", "Duplicate entry found with name %s at domain ID %s", name, domainID)
}

// RolesByName reads the global roles of a name: one or none.
func RolesByName(name string) db.Query[Role] {
	return db.Query[Role]{
		Text: `select r.id, r.name, r.domain_id from role r where r.name = $1 and r.domain_id = $2`,
		Args: []any{name, NoDomain},
		Scan: scanRole,
	}
}

// Mutable gives which of the global roles with these names may be changed and
// deleted.
func Mutable(names ...string) db.Query[string] {
	w := db.Where{}
	w.And(`r.domain_id = ?`, NoDomain)
	w.AndIn("r.name", names)
	// An option's value is JSON text.
	w.And(`not exists (select 1 from role_option o where o.role_id = r.id and o.option_id = ? and o.option_value = ?)`, resource.OptionImmutable, "true")
	return db.Query[string]{
		Text: `select r.name from role r` + w.String() + ` order by r.name`,
		Args: w.Args,
		Scan: db.ScanText,
	}
}

// Imply makes every holder of prior hold implied too; twice is once.
func Imply(ctx context.Context, c db.Conn, prior, implied string) error {
	return once(ctx, c, "imply role "+implied,
		`insert into implied_role (prior_role_id, implied_role_id) values ($1, $2)`, prior, implied)
}

// Unimply takes an implication back; a missing one is no error.
func Unimply(ctx context.Context, c db.Conn, prior, implied string) error {
	_, err := c.Exec(ctx, unimply, prior, implied)
	return fault.Wrap(err, "remove implied role", implied)
}

const unimply = `delete from implied_role where prior_role_id = $1 and implied_role_id = $2`

// Actor says who gets a grant.
type Actor struct {
	ID    string
	Group bool
}

func (a Actor) kind(target string) string {
	if a.Group {
		return "Group" + target
	}
	return "User" + target
}

const insertGrant = `insert into assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`

// GrantOnProject gives a role on a project; giving it twice is giving it once.
func GrantOnProject(ctx context.Context, c db.Conn, a Actor, projectID, roleID string, inherited bool) error {
	return once(ctx, c, "grant on project "+projectID, insertGrant, a.kind("Project"), a.ID, projectID, roleID, inherited)
}

// GrantOnDomain gives a role on a domain; giving it twice is giving it once.
func GrantOnDomain(ctx context.Context, c db.Conn, a Actor, domainID, roleID string, inherited bool) error {
	return once(ctx, c, "grant on domain "+domainID, insertGrant, a.kind("Domain"), a.ID, domainID, roleID, inherited)
}

// GrantOnSystem gives a role on the system; giving it twice is giving it once.
func GrantOnSystem(ctx context.Context, c db.Conn, a Actor, roleID string) error {
	return once(ctx, c, "grant on the system",
		`insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ($1, $2, $3, $4, $5)`,
		a.kind("System"), a.ID, onTheSystem, roleID, false)
}

// OnProject gives the role where the actor has it on the project, else no row.
func OnProject(a Actor, projectID, roleID string) db.Query[string] {
	return grantQuery("assignment", a.kind("Project"), a.ID, projectID, roleID)
}

// OnSystem gives the role where the actor has it on the system, else no row.
func OnSystem(a Actor, roleID string) db.Query[string] {
	return grantQuery("system_assignment", a.kind("System"), a.ID, onTheSystem, roleID)
}

func grantQuery(table, kind, actorID, targetID, roleID string) db.Query[string] {
	return db.Query[string]{
		Text: `select role_id from ` + table + ` where type = $1 and actor_id = $2 and target_id = $3 and role_id = $4 and inherited = $5`,
		Args: []any{kind, actorID, targetID, roleID, false},
		Scan: db.ScanText,
	}
}

// Implied gives the implied role where prior implies it, else no row.
func Implied(prior, implied string) db.Query[string] {
	return db.Query[string]{
		Text: `select implied_role_id from implied_role where prior_role_id = $1 and implied_role_id = $2`,
		Args: []any{prior, implied},
		Scan: db.ScanText,
	}
}

// once inserts a row whose presence is success, inside a transaction of its
// own: a failed insert would end the caller's on Postgres.
func once(ctx context.Context, c db.Conn, what, text string, args ...any) error {
	err := db.Nested(ctx, c, func(c db.Conn) error {
		_, err := c.Exec(ctx, text, args...)
		return err
	})
	if err != nil && !errors.Is(err, db.ErrDuplicate) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
