package resource

import (
	"context"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Parents returns the projects above one, the nearest first and its domain
// last.
func (p Projects) Parents(ctx context.Context, of Record) ([]Record, error) {
	return parents(ctx, p.DB, of.Project)
}

func parents(ctx context.Context, c db.Conn, of Project) ([]Record, error) {
	found, err := family(ctx, c, above, aboveIDs, of.ID)
	if err != nil {
		return nil, err
	}
	byID := map[string]Record{}
	for _, r := range found {
		byID[r.ID] = r
	}
	var out []Record
	for id := of.ParentID; ; {
		r, there := byID[id]
		if !there {
			return out, nil
		}
		delete(byID, id) // a circle ends where it began
		out = append(out, r)
		id = r.ParentID
	}
}

// Subtree returns the projects below one, level by level.
func (p Projects) Subtree(ctx context.Context, id string) ([]Record, error) {
	return subtree(ctx, p.DB, id)
}

func subtree(ctx context.Context, c db.Conn, id string) ([]Record, error) {
	found, err := family(ctx, c, below, belowIDs, id)
	if err != nil {
		return nil, err
	}
	children := map[string][]Record{}
	for _, r := range found {
		children[r.ParentID] = append(children[r.ParentID], r)
	}
	var out []Record
	for level := children[id]; len(level) > 0; {
		out = append(out, level...)
		var next []Record
		for _, r := range level {
			next = append(next, children[r.ID]...)
			delete(children, r.ID)
		}
		level = next
	}
	return out, nil
}

// family reads the projects that a recursive query finds, in one round trip.
func family(ctx context.Context, c db.Conn, with, ids, id string) ([]Record, error) {
	var b db.Batch
	found := RecordsIn(&b, with, ids, id)
	if err := c.Send(ctx, &b); err != nil {
		return nil, fmt.Errorf("read the tree of project %s: %w", id, err)
	}
	return slices.DeleteFunc(found.All(), func(r Record) bool { return r.ID == RootDomainID }), nil
}
