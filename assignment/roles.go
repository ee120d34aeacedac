package assignment

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// Roles are the roles of a database, with what they imply.
type Roles struct {
	DB db.DB
	// Limit is [role] list_limit, 0 for none.
	Limit int
	// Prohibited are the names of roles that no other may imply.
	Prohibited []string
}

// Record is a role with its options.
type Record struct {
	Role
	Options resource.Options
}

// RoleChange is what a create or an update sets; a nil field stays as it is.
type RoleChange struct {
	Name        *string
	Description **string // set to nil: null
	Option      resource.OptionChange
	Extra       pyjson.Object
	// DomainID is what an update sends of it; an error then tells it.
	DomainID string
}

// Get returns a role; 404 when there is none.
func (r Roles) Get(ctx context.Context, id string) (Record, error) { return role(ctx, r.DB, id) }

func role(ctx context.Context, c db.Conn, id string) (Record, error) { return roleWith(ctx, c, id, "") }

// roleWith is role with a lock, which keeps the role until the transaction is
// over.
func roleWith(ctx context.Context, c db.Conn, id, lock string) (Record, error) {
	var b db.Batch
	row, options := db.Add(&b, locked(RoleByID(id), lock)), db.Add(&b, optionsIn(`$1`, id))
	if err := c.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return Record{}, fault.NoSuch("role", id)
		}
		return Record{}, fmt.Errorf("read role %s: %w", id, err)
	}
	found, err := row.One()
	if errors.Is(err, db.ErrNoRow) {
		return Record{}, fault.NoSuch("role", id)
	}
	return Record{Role: found, Options: options.All()}, err
}

// List returns the roles of a domain, or the global ones where it is "".
func (r Roles) List(ctx context.Context, h hints.Hints, domainID string) (hints.Page[Record], error) {
	if domainID == "" {
		domainID = NoDomain
	}
	rows, page := roleSource(domainID).Query(h)
	ids, _ := roleIDs(domainID).Query(h)
	var b db.Batch
	found, options := db.Add(&b, rows), db.Add(&b, optionsIn(`select x.id from (`+ids.Text+`) x`, ids.Args...))
	if err := r.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return hints.Page[Record]{}, nil
		}
		return hints.Page[Record]{}, fmt.Errorf("list roles: %w", err)
	}
	read := page.With(found.All(), h)
	return hints.Page[Record]{Rows: records(read.Rows, options.All()), Rest: read.Rest, Truncated: read.Truncated}, nil
}

func records(roles []Role, options []resource.Label) []Record {
	of := resource.ByOwner(options)
	out := make([]Record, len(roles))
	for i, r := range roles {
		out[i] = Record{Role: r, Options: of[r.ID]}
	}
	return out
}

// Create stores a role and returns it; 409 when its name is taken in its
// domain.
func (r Roles) Create(ctx context.Context, id, domainID string, ch RoleChange) (Record, error) {
	n := Role{ID: id, Name: *ch.Name, DomainID: domainID, Extra: pyjson.WriteExtra(ch.Extra)}
	if ch.Description != nil {
		n.Description = *ch.Description
	}
	var out Record
	err := r.DB.Tx(ctx, func(c db.Conn) (err error) {
		if err := CreateRole(ctx, c, n, false); err != nil {
			return err
		}
		if err := ch.option(ctx, c, id); err != nil {
			return err
		}
		out, err = role(ctx, c, id)
		return err
	})
	return out, err
}

func (ch RoleChange) option(ctx context.Context, c db.Conn, id string) error {
	var b db.Batch
	ch.Option.Store(&b, "role", id)
	return c.Send(ctx, &b)
}

// Update changes a role and returns it: 403 when it is immutable, 409 when its
// new name is taken.
func (r Roles) Update(ctx context.Context, id string, ch RoleChange) (Record, error) {
	var out Record
	name := ""
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		before, err := roleWith(ctx, c, id, db.ForUpdate(c.Dialect()))
		if err != nil {
			return err
		}
		if err := before.Options.Allow(ch.Option, "role", id); err != nil {
			return err
		}
		after := ch.apply(before.Role)
		name = after.Name
		if _, err := c.Exec(ctx, `update role set name = $2, description = $3, extra = $4 where id = $1`, id, after.Name, after.Description, after.Extra); err != nil {
			return err
		}
		if err := ch.option(ctx, c, id); err != nil {
			return err
		}
		out, err = role(ctx, c, id)
		return err
	})
	switch {
	case errors.Is(err, db.ErrDuplicate):
		return Record{}, nameTaken(name, ch.DomainID)
	case err != nil:
		return Record{}, fault.Wrap(err, "update role", id)
	}
	return out, nil
}

func (ch RoleChange) apply(r Role) Role {
	if ch.Name != nil {
		r.Name = *ch.Name
	}
	if ch.Description != nil {
		r.Description = *ch.Description
	}
	r.Extra = pyjson.WriteExtra(pyjson.ReadExtra(r.Extra).Merge(ch.Extra))
	return r
}

// Delete removes a role with its grants; 403 when it is immutable.
func (r Roles) Delete(ctx context.Context, id string) error {
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		// A grant that is being made of it comes before or not at all.
		before, err := roleWith(ctx, c, id, db.ForUpdate(c.Dialect()))
		if err != nil {
			return err
		}
		if err := before.Options.AllowDelete("role", id); err != nil {
			return err
		}
		return cascade.RoleDeleted(ctx, c, id)
	})
	return fault.Wrap(err, "delete role", id)
}
