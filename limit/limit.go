// Package limit holds registered limits, which say how much of a resource each
// project may use, and the limits that say otherwise for a project or a domain
// (keystone/limit). Keystone keeps them; services enforce them.
package limit

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/resource"
)

// Resource is what a limit is of. RegionID may be "", for a resource that knows
// no regions.
type Resource struct{ ServiceID, RegionID, Name string }

// Limit is how much of a resource a project or a domain may use: one of
// ProjectID and DomainID is "".
type Limit struct {
	ID, ProjectID, DomainID string
	Resource
	Value       int64 // -1 is without a bound
	Description *string

	registered string // the id of the registered limit that it is for
}

// Change is what an update sets; a nil field stays as it is.
type Change struct {
	Value       *int64
	Description **string // set to nil: none
}

// Limits are the limits of a database.
type Limits struct {
	DB db.DB
	// Model is [unified_limit] enforcement_model.
	Model Model
}

// Viewer is whose list of limits is read: everybody's with All, else those of a
// domain with its projects, or those of a project; nobody's for neither.
type Viewer struct {
	All                 bool
	DomainID, ProjectID string
}

// Get returns a limit; 404 when there is none.
func (l Limits) Get(ctx context.Context, id string) (Limit, error) {
	out, err := db.One(ctx, l.DB, limitByID(id))
	if errors.Is(err, db.ErrNoRow) {
		return out, noLimit(id)
	}
	return out, fault.Wrap(err, "read limit", id)
}

// GetOwned is Get together with the project or domain that the limit is for;
// none where that is gone.
func (l Limits) GetOwned(ctx context.Context, id string) (Limit, []resource.Record, error) {
	var b db.Batch
	limits, owners := db.Add(&b, limitByID(id)), resource.RecordsIn(&b, "", ownerOf, id)
	if err := l.DB.Send(ctx, &b); err != nil {
		return Limit{}, nil, fault.Wrap(err, "read limit", id)
	}
	if len(limits.All()) == 0 {
		return Limit{}, nil, noLimit(id)
	}
	return limits.All()[0], owners.All(), nil
}

// List returns the limits that match and that the viewer may see, by id.
func (l Limits) List(ctx context.Context, h hints.Hints, v Viewer) (hints.Page[Limit], error) {
	s := limitSource
	s.Where = v.where
	p, err := hints.List(ctx, l.DB, h, s)
	return p, fault.Wrap(err, "list rows of", "limit")
}

// OfProjects returns the limits of each of some projects.
func (l Limits) OfProjects(ctx context.Context, ids []string) (map[string][]Limit, error) {
	var w db.Where
	w.AndIn(`l.project_id`, ids)
	found, err := db.All(ctx, l.DB, limitsWhere(w))
	out := map[string][]Limit{}
	for _, one := range found {
		out[one.ProjectID] = append(out[one.ProjectID], one)
	}
	return out, fault.Wrap(err, "list the limits of", "projects")
}

// Update changes a limit and returns it: 404 when there is none, 403 when the
// model forbids the value.
func (l Limits) Update(ctx context.Context, id string, ch Change) (Limit, error) {
	var out Limit
	err := l.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		// Whoever changes a limit of the same resource waits.
		db.Add(&b, registeredOf(c.Dialect(), id))
		limits, projects := db.Add(&b, limitByID(id)), db.Add(&b, resource.ProjectsIn("", ownerOf, id))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		if len(limits.All()) == 0 {
			return noLimit(id)
		}
		out = limits.All()[0]
		if ch.Value != nil {
			out.Value = *ch.Value
		}
		if ch.Description != nil {
			out.Description = *ch.Description
		}
		if err := l.Model.allow(ctx, c, projects.All(), out); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `update "limit" set resource_limit = $2, description = $3 where id = $1`, id, out.Value, out.Description)
		return err
	})
	return out, fault.Wrap(err, "update limit", id)
}

// Delete removes a limit; 404 when there is none.
func (l Limits) Delete(ctx context.Context, id string) error {
	n, err := l.DB.Exec(ctx, `delete from "limit" where id = $1`, id)
	if err == nil && n == 0 {
		return noLimit(id)
	}
	return fault.Wrap(err, "delete limit", id)
}

func noLimit(id string) error {
	return fault.New(fault.NotFound, "Could not find limit for %s.", id)
}
