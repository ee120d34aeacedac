package assignment

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// Grants are the roles that users and groups were given on projects, domains
// and the system.
type Grants struct {
	DB          db.DB
	Memberships identity.Memberships
}

// Grant is a role of somebody somewhere; as the subject of a list it has no
// role.
type Grant struct {
	Actor
	// Where it is: a project, a domain, or with neither the system.
	ProjectID, DomainID string
	RoleID              string
	// Inherited grants hold on all projects below, and not where they are.
	Inherited bool
}

// Parties are whom and what a grant names, as far as there are such; a part
// that it does not name is nil as well.
type Parties struct {
	Role  *Record
	User  *identity.View
	Group *identity.Group
	// Place is the project or the domain.
	Place *resource.Record
}

// Parties reads them in one round trip.
func (g Grants) Parties(ctx context.Context, of Grant) (Parties, error) {
	var b db.Batch
	reads := of.reads(&b, "")
	err := g.DB.Send(ctx, &b)
	switch {
	case errors.Is(err, db.ErrBadValue):
		return Parties{}, nil // nothing has such an id
	case err != nil:
		return Parties{}, fmt.Errorf("read what a grant names: %w", err)
	}
	return reads(), nil
}

// reads queues the reads of what a grant names, and gives what collects their
// answers. lock stands behind those that hold a row.
func (g Grant) reads(b *db.Batch, lock string) func() Parties {
	collect := []func(*Parties){}
	if g.RoleID != "" {
		row, options := db.Add(b, locked(RoleByID(g.RoleID), lock)), db.Add(b, optionsIn(`$1`, g.RoleID))
		collect = append(collect, func(p *Parties) {
			for _, r := range row.All() {
				p.Role = &Record{Role: r, Options: options.All()}
			}
		})
	}
	collect = append(collect, g.actorReads(b))
	if id := g.place(); id != "" {
		row := db.Add(b, resource.ProjectByID(id))
		tags, options := db.Add(b, resource.TagsIn("", "$1", id)), db.Add(b, resource.OptionsIn("", "$1", id))
		collect = append(collect, func(p *Parties) {
			for _, r := range row.All() {
				if g.DomainID == "" || r.IsDomain {
					p.Place = &resource.Record{Project: r, Tags: tags.All(), Options: options.All()}
				}
			}
		})
	}
	return func() Parties {
		var p Parties
		for _, f := range collect {
			f(&p)
		}
		return p
	}
}

func (g Grant) actorReads(b *db.Batch) func(*Parties) {
	if g.Group {
		row := db.Add(b, identity.GroupByID(g.ID))
		return func(p *Parties) {
			for _, r := range row.All() {
				p.Group = &r
			}
		}
	}
	row, options := db.Add(b, identity.AccountByID(g.ID)), db.Add(b, identity.OptionsOf(g.ID))
	return func(p *Parties) {
		// A user has a row for each of his passwords, the current one first.
		if first, err := row.One(); err == nil {
			v := identity.Shown(first, options.All())
			p.User = &v
		}
	}
}

func locked[T any](q db.Query[T], lock string) db.Query[T] {
	q.Text += lock
	return q
}

// place is the id of the project or the domain, "" for the system.
func (g Grant) place() string {
	if g.ProjectID != "" {
		return g.ProjectID
	}
	return g.DomainID
}

// target is the place as the tables have it.
func (g Grant) target() string {
	if id := g.place(); id != "" {
		return id
	}
	return onTheSystem
}

// NoRole, NoActor and NoPlace are the 404 of what is missing, nil where it is
// there or the grant does not name it.
func (g Grant) NoRole(p Parties) error {
	if g.RoleID != "" && p.Role == nil {
		return fault.NoSuch("role", g.RoleID)
	}
	return nil
}

// NoActor is told of the user or the group.
func (g Grant) NoActor(p Parties) error {
	switch {
	case g.Group && p.Group == nil:
		return fault.NoSuch("group", g.ID)
	case !g.Group && p.User == nil:
		return fault.NoSuch("user", g.ID)
	}
	return nil
}

// NoPlace is told of the project or the domain.
func (g Grant) NoPlace(p Parties) error {
	switch {
	case p.Place != nil:
		return nil
	case g.ProjectID != "":
		return fault.NoSuch("project", g.ProjectID)
	case g.DomainID != "":
		return fault.NoSuch("domain", g.DomainID)
	}
	return nil
}

// missing is the first of the three.
func (g Grant) missing(p Parties) error {
	for _, look := range []func(Parties) error{g.NoRole, g.NoPlace, g.NoActor} {
		if err := look(p); err != nil {
			return err
		}
	}
	return nil
}

// none is the 404 of a grant that nobody made.
func (g Grant) none() error {
	return fault.New(fault.NotFound, "Could not find role assignment with role: %s, user or group: %s, project, domain, or system: %s.", g.RoleID, g.ID, g.target())
}

// Check returns nil for a grant that was made, and a 404 for any other.
func (g Grants) Check(ctx context.Context, of Grant) error {
	found, err := db.All(ctx, g.DB, of.made())
	switch {
	case err != nil && !errors.Is(err, db.ErrBadValue):
		return fmt.Errorf("look for a grant of role %s: %w", of.RoleID, err)
	case len(found) == 0:
		return of.none()
	}
	return nil
}

// Roles lists the roles of somebody somewhere, in one round trip.
func (g Grants) Roles(ctx context.Context, of Grant) ([]Record, error) {
	where, args := of.rolesOf()
	ids := `select a.role_id from ` + of.table() + ` a where ` + where
	var b db.Batch
	found := db.Add(&b, db.Query[Role]{Text: `select ` + roleCols + ` from role r where r.id in (` + ids + `) order by r.id`, Args: args, Scan: scanFullRole})
	options := db.Add(&b, optionsIn(ids, args...))
	if err := g.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return nil, nil
		}
		return nil, fmt.Errorf("list the grants of %s: %w", of.ID, err)
	}
	return records(found.All(), options.All()), nil
}

// Give makes a grant, once; 404 when a part of it is missing, 403 for a role of
// another domain than the project's, 400 for a domain's role on the system.
func (g Grants) Give(ctx context.Context, of Grant) error {
	err := g.DB.Tx(ctx, func(c db.Conn) error {
		p, err := of.hold(ctx, c)
		if err != nil {
			return err
		}
		if err := of.missing(p); err != nil {
			return err
		}
		if err := of.fits(p); err != nil {
			return err
		}
		switch {
		case of.ProjectID != "":
			return GrantOnProject(ctx, c, of.Actor, of.ProjectID, of.RoleID, of.Inherited)
		case of.DomainID != "":
			return GrantOnDomain(ctx, c, of.Actor, of.DomainID, of.RoleID, of.Inherited)
		}
		return GrantOnSystem(ctx, c, of.Actor, of.RoleID)
	})
	return fault.Wrap(err, "grant role", of.RoleID)
}

// hold reads what the grant names and keeps it from being deleted until the
// transaction is over, so that no grant outlives a part of it. The order is
// the same for all.
func (g Grant) hold(ctx context.Context, c db.Conn) (Parties, error) {
	var b db.Batch
	lock := db.ForUpdate(c.Dialect())
	if lock != "" {
		table := `"user"`
		if g.Group {
			table = `"group"`
		}
		db.Add(&b, db.Query[string]{Text: `select x.id from ` + table + ` x where x.id = $1` + lock, Args: []any{g.ID}, Scan: db.ScanText})
		if id := g.place(); id != "" {
			db.Add(&b, resource.Held(c.Dialect(), id))
		}
	}
	reads := g.reads(&b, lock)
	if err := c.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return Parties{}, g.missing(Parties{})
		}
		return Parties{}, err
	}
	return reads(), nil
}

// fits refuses roles of a domain where they cannot be.
func (g Grant) fits(p Parties) error {
	switch {
	case p.Role.DomainID == "":
		return nil
	case g.ProjectID != "" && p.Place.DomainID != p.Role.DomainID:
		return fault.New(fault.Forbidden, "Project %s must be in the same domain as the role %s being assigned.", g.ProjectID, g.RoleID)
	case g.place() == "":
		return fault.New(fault.BadRequest, "Role %s is a domain-specific role. Unable to use a domain-specific role in a system assignment.", g.RoleID)
	}
	return nil
}

// Take takes a grant back; 404 when nobody made it. Tokens are judged anew by
// what roles are left.
func (g Grants) Take(ctx context.Context, of Grant) error {
	where, args := of.where()
	n, err := g.DB.Exec(ctx, `delete from `+of.table()+` where `+where, args...)
	switch {
	case errors.Is(err, db.ErrBadValue), err == nil && n == 0:
		return of.none()
	case err != nil:
		return fmt.Errorf("take back a grant of role %s: %w", of.RoleID, err)
	}
	return nil
}
