package resource

import (
	"context"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// SetTags gives a project these tags and no others; 403 when it is immutable.
func (p Projects) SetTags(ctx context.Context, id string, names []string) error {
	return p.tags(ctx, id, "update", func(Record) ([]string, error) { return names, nil })
}

// AddTag adds a tag to a project, once.
func (p Projects) AddTag(ctx context.Context, id, name string) error {
	return p.tags(ctx, id, "create", func(r Record) ([]string, error) { return append(r.TagNames(), name), nil })
}

// RemoveTag takes a tag from a project; 404 when it does not have it.
func (p Projects) RemoveTag(ctx context.Context, id, name string) error {
	return p.tags(ctx, id, "delete", func(r Record) ([]string, error) {
		names := r.TagNames()
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fault.NoSuch("project tag", name)
		}
		return slices.Delete(names, i, i+1), nil
	})
}

// tags replaces the tags of a project by what change makes of it. The project
// is held meanwhile, so that no other change is lost.
func (p Projects) tags(ctx context.Context, id, what string, change func(Record) ([]string, error)) error {
	err := p.DB.Tx(ctx, func(c db.Conn) error {
		if err := hold(ctx, c, id); err != nil {
			return err
		}
		r, err := readRecord(ctx, c, id)
		if err != nil {
			return err
		}
		if r.Options.Immutable() {
			return fault.New(fault.Forbidden, "Cannot %s project tags for %s, project is immutable. Set \"immutable\" option to false before creating project tags.", what, id)
		}
		names, err := change(r)
		if err != nil {
			return err
		}
		if err := checkEnabled(ctx, c, r, Change{}); err != nil {
			return err
		}
		var b db.Batch
		Change{Tags: &names}.labels(&b, id)
		return c.Send(ctx, &b)
	})
	return fault.Wrap(err, what+" tags of project", id)
}
