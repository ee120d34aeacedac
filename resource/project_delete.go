package resource

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// Delete removes a project, which must have none below it, or a domain, which
// must be disabled and takes all with it that it owns, which is given back; 404
// when there is none (keystone/resource/core.py delete_project).
func (p Projects) Delete(ctx context.Context, id string) (cascade.Contents, error) {
	gone, err := p.delete(ctx, id, false)
	return gone, fault.Wrap(err, "delete project", id)
}

// DeleteDomain is Delete for domains alone: 404 for a project.
func (p Projects) DeleteDomain(ctx context.Context, id string) (cascade.Contents, error) {
	gone, err := p.delete(ctx, id, true)
	return gone, fault.Wrap(err, "delete domain", id)
}

func (p Projects) delete(ctx context.Context, id string, domain bool) (gone cascade.Contents, err error) {
	leaf := fault.New(fault.Forbidden, "Cannot delete the project %s since it is not a leaf in the hierarchy. Use the cascade option if you want to delete a whole subtree.", id)
	err = p.DB.Tx(ctx, func(c db.Conn) error {
		if err := hold(ctx, c, id); err != nil {
			return err
		}
		r, err := readRecord(ctx, c, id)
		switch {
		case domain && (fault.Is(err, fault.NotFound) || err == nil && !r.IsDomain):
			return fault.NoSuch("domain", id)
		case err != nil:
			return err
		case r.IsDomain:
			gone, err = p.deleteDomain(ctx, c, r)
			return err
		}
		if err := r.Options.AllowDelete("project", r.ID); err != nil {
			return err
		}
		tree, err := subtree(ctx, c, id)
		if err != nil {
			return err
		}
		if len(tree) > 0 {
			return leaf
		}
		return p.remove(ctx, c, id)
	})
	if errors.Is(err, db.ErrReference) {
		// A project was made below it in between.
		return gone, leaf
	}
	return gone, err
}

func (p Projects) deleteDomain(ctx context.Context, c db.Conn, r Record) (cascade.Contents, error) {
	if err := r.Options.AllowDelete("domain", r.ID); err != nil {
		return cascade.Contents{}, err
	}
	if r.Enabled {
		return cascade.Contents{}, fault.New(fault.Forbidden, "Cannot delete a domain that is enabled, please disable it first.")
	}
	tree, err := subtree(ctx, c, r.ID)
	if err != nil {
		return cascade.Contents{}, err
	}
	var projects []string
	for _, below := range leavesFirst(tree, r.ID) {
		if err := below.Options.AllowDelete("project", below.ID); err != nil {
			return cascade.Contents{}, err
		}
		if err := p.remove(ctx, c, below.ID); err != nil {
			return cascade.Contents{}, err
		}
		projects = append(projects, below.ID)
	}
	gone, err := p.Revoker.DomainDeleted(ctx, c, r.ID)
	if err != nil {
		return cascade.Contents{}, err
	}
	gone.Projects = projects
	return gone, p.remove(ctx, c, r.ID)
}

// leavesFirst orders a tree as Python Keystone deletes it: each project after
// all that is below it.
func leavesFirst(tree []Record, root string) []Record {
	children := map[string][]Record{}
	for _, r := range tree {
		children[r.ParentID] = append(children[r.ParentID], r)
	}
	out := make([]Record, 0, len(tree))
	var walk func(id string)
	walk = func(id string) {
		below := children[id]
		delete(children, id) // a circle ends where it began
		for _, r := range below {
			walk(r.ID)
			out = append(out, r)
		}
	}
	walk(root)
	return out
}

// remove takes a project's row and what hangs on it.
func (p Projects) remove(ctx context.Context, c db.Conn, id string) error {
	var b db.Batch
	b.Exec(`delete from project_tag where project_id = $1`, id)
	b.Exec(`delete from project_option where project_id = $1`, id)
	b.Exec(`delete from project where id = $1`, id)
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	return p.Revoker.ProjectDeleted(ctx, c, id)
}
