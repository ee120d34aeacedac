package resource

import (
	"context"
	"errors"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Update changes a project or a domain and returns it: 403 for what is
// immutable, for one that would be enabled below a disabled one, or disabled
// above an enabled one; 409 for a name that is taken (keystone/resource/core.py
// _update_project).
func (p Projects) Update(ctx context.Context, id string, ch Change) (Record, error) {
	row := Project{ID: id}
	var out Record
	err := p.DB.Tx(ctx, func(c db.Conn) error {
		if err := hold(ctx, c, id); err != nil {
			return err
		}
		before, err := readRecord(ctx, c, id)
		if err != nil {
			return err
		}
		if err := p.checkChange(ctx, c, before, ch); err != nil {
			return err
		}
		row = ch.apply(before.Project)
		var b db.Batch
		b.Exec(`update project set name = $2, description = $3, enabled = $4, extra = $5 where id = $1`, id, row.Name, row.Description, row.Enabled, row.Extra)
		ch.labels(&b, id)
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		out, err = readRecord(ctx, c, id)
		return err
	})
	switch {
	case errors.Is(err, db.ErrDuplicate):
		return Record{}, taken(row)
	case err != nil:
		return Record{}, fault.Wrap(err, "update project", id)
	}
	return out, nil
}

func (ch Change) apply(p Project) Project {
	if ch.Name != nil && *ch.Name != p.Name {
		p.Name = strings.TrimSpace(*ch.Name)
	}
	if ch.Description != nil {
		p.Description = *ch.Description
	}
	if ch.Enabled != nil {
		p.Enabled = *ch.Enabled
	}
	p.Extra = pyjson.WriteExtra(pyjson.ReadExtra(p.Extra).Merge(ch.Extra))
	return p
}

// AllowChange refuses a change of what is immutable.
func (r Record) AllowChange(ch OptionChange) error {
	kind := "project"
	if r.IsDomain {
		kind = "domain"
	}
	return r.Options.Allow(ch, kind, r.ID)
}

// checkChange refuses what must not be changed.
func (p Projects) checkChange(ctx context.Context, c db.Conn, before Record, ch Change) error {
	if err := before.AllowChange(ch.Option); err != nil {
		return err
	}
	if before.IsDomain {
		name := before.Name
		if ch.Name != nil {
			name = *ch.Name
		}
		if err := p.notFederated(before.ID, name); err != nil {
			return err
		}
	}
	if ch.Name != nil && *ch.Name != before.Name {
		if err := p.safeName(before.IsDomain, *ch.Name); err != nil {
			return err
		}
	}
	return checkEnabled(ctx, c, before, ch)
}

// checkEnabled keeps a disabled project from having enabled ones below it.
// Python looks above a disabled project also when the change does not say
// whether it is enabled.
func checkEnabled(ctx context.Context, c db.Conn, before Record, ch Change) error {
	enable := ch.Enabled == nil || *ch.Enabled
	switch {
	case !before.Enabled && enable:
		line, err := parents(ctx, c, before.Project)
		if err != nil {
			return err
		}
		for _, r := range line {
			if !r.Enabled {
				return fault.New(fault.Forbidden, "Cannot enable project %s since it has disabled parents", before.ID)
			}
		}
	case before.Enabled && !enable && !before.IsDomain:
		tree, err := subtree(ctx, c, before.ID)
		if err != nil {
			return err
		}
		for _, r := range tree {
			if r.Enabled {
				return fault.New(fault.Forbidden, "Cannot disable project %s since its subtree contains enabled projects.", before.ID)
			}
		}
	}
	return nil
}
