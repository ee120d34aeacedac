package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Region is a part of a cloud, perhaps inside another region.
type Region struct {
	ID          string
	Description string
	ParentID    *string
	Extra       pyjson.Object // members that Keystone has no column for
}

// RegionChange is what an update sets; a nil field stays as it is.
type RegionChange struct {
	Description *string
	ParentID    **string      // set to nil: none
	Extra       pyjson.Object // added to what is there
}

// Regions are the regions of a database.
type Regions struct{ DB db.DB }

// Get returns a region; 404 when there is none.
func (r Regions) Get(ctx context.Context, id string) (Region, error) {
	return regionTable.get(ctx, r.DB, id)
}

// List returns the regions that match, by id.
func (r Regions) List(ctx context.Context, h hints.Hints) (hints.Page[Region], error) {
	return regionTable.list(ctx, r.DB, h)
}

// Create stores a region: 409 when its id is taken, 404 when its parent does
// not exist (keystone/catalog/core.py create_region).
func (r Regions) Create(ctx context.Context, n Region) error {
	duplicate := fault.Duplicate("region", "Duplicate ID, %s.", n.ID)
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		if _, err := regionTable.get(ctx, c, n.ID); err == nil {
			return duplicate
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
		if err := hasParent(ctx, c, n.ParentID); err != nil {
			return err
		}
		return regionTable.store(ctx, c, n)
	})
	if errors.Is(err, db.ErrDuplicate) {
		return duplicate
	}
	return fault.Wrap(err, "create region", n.ID)
}

// Update changes a region and returns it: 404 when it or its new parent does
// not exist, 400 when it would become its own ancestor.
func (r Regions) Update(ctx context.Context, id string, change RegionChange) (Region, error) {
	var out Region
	err := r.DB.Tx(ctx, func(c db.Conn) (err error) {
		if change.ParentID != nil && *change.ParentID != nil {
			// Two that are moved at once could make a circle.
			if _, err := db.All(ctx, c, idsOf(`select id from region order by id`+db.ForUpdate(c.Dialect()))); err != nil {
				return err
			}
		}
		if change.ParentID != nil {
			if err := hasParent(ctx, c, *change.ParentID); err != nil {
				return err
			}
		}
		out, err = regionTable.rewrite(ctx, c, id, func(row *Region) error {
			change.apply(row)
			return noCircle(ctx, c, *row)
		})
		return err
	})
	return out, fault.Wrap(err, "update region", id)
}

func (c RegionChange) apply(r *Region) {
	set(&r.Description, c.Description)
	set(&r.ParentID, c.ParentID)
	r.Extra = r.Extra.Merge(c.Extra)
}

func hasParent(ctx context.Context, c db.Conn, id *string) error {
	if id == nil {
		return nil
	}
	_, err := regionTable.get(ctx, c, *id)
	return err
}

// noCircle refuses a region that is above its own parent.
func noCircle(ctx context.Context, c db.Conn, r Region) error {
	if r.ParentID == nil {
		return nil
	}
	above, err := db.All(ctx, c, regionsAbove(*r.ParentID))
	if err != nil {
		return fmt.Errorf("ancestors: %w", err)
	}
	if slices.Contains(above, r.ID) {
		return fault.New(fault.BadRequest, "The specified parent region %s would create a circular region hierarchy.", r.ID)
	}
	return nil
}

// Delete removes a region and the regions below it, and their ties to
// policies. An endpoint in any of them forbids that, as in
// keystone/catalog/backends/sql.py:163 (30ef2ffa6).
func (r Regions) Delete(ctx context.Context, id string) error {
	used := fault.New(fault.Forbidden, "Unable to delete region %s because it or its child regions have associated endpoints.", id)
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		tree, err := db.All(ctx, c, regionsBelow(id))
		if err != nil {
			return err
		}
		if len(tree) == 0 {
			return fault.NoSuch("region", id)
		}
		ids := make([]any, len(tree))
		for i, b := range tree {
			if b.endpoints > 0 {
				return used
			}
			ids[i] = b.id
		}
		var b db.Batch
		gone := b.Exec(`delete from region where id in `+db.In(len(ids), 1), ids...)
		b.Exec(`delete from policy_association where region_id in `+db.In(len(ids), 1), ids...)
		if err := c.Send(ctx, &b); err != nil || gone.Rows() > 0 {
			return err
		}
		return fault.NoSuch("region", id) // another deleted it in between
	})
	if errors.Is(err, db.ErrReference) {
		// An endpoint came in between.
		return used
	}
	return fault.Wrap(err, "delete region", id)
}
