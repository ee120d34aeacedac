package assignment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// Inferences returns all implications, by the ids of their roles.
func (r Roles) Inferences(ctx context.Context) ([]Inference, error) {
	out, err := db.All(ctx, r.DB, db.Query[Inference]{Text: inference + ` order by p.id, r.id`, Scan: scanInference})
	return out, fault.Wrap(err, "list", "implied roles")
}

// Implies returns the roles that one implies; 404 when there is none such.
func (r Roles) Implies(ctx context.Context, priorID string) (Record, []Role, error) {
	prior, err := r.Get(ctx, priorID)
	if err != nil {
		return Record{}, nil, err
	}
	found, err := db.All(ctx, r.DB, db.Query[Inference]{Text: inference + ` where p.id = $1 order by r.id`, Args: []any{priorID}, Scan: scanInference})
	if err != nil {
		return Record{}, nil, fmt.Errorf("list what role %s implies: %w", priorID, err)
	}
	out := make([]Role, len(found))
	for i, f := range found {
		out[i] = f.Implied
	}
	return prior, out, nil
}

// Implied returns one implication; 404 when a role, or it, does not exist.
func (r Roles) Implied(ctx context.Context, priorID, impliedID string) (Inference, error) {
	prior, err := r.Get(ctx, priorID)
	if err != nil {
		return Inference{}, err
	}
	implied, err := r.Get(ctx, impliedID)
	if err != nil {
		return Inference{}, err
	}
	found, err := db.All(ctx, r.DB, Implied(priorID, impliedID))
	switch {
	case err != nil:
		return Inference{}, fmt.Errorf("read implied role %s: %w", impliedID, err)
	case len(found) == 0:
		return Inference{}, notImplied(priorID, impliedID)
	}
	return Inference{Prior: prior.Role, Implied: implied.Role}, nil
}

// Imply makes every holder of a role hold another; 403 for a role that must
// not be implied, 409 when it is already.
func (r Roles) Imply(ctx context.Context, priorID, impliedID string) (Inference, error) {
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		implied, err := role(ctx, c, impliedID)
		if err != nil {
			return err
		}
		prior, err := role(ctx, c, priorID)
		if err != nil {
			return err
		}
		if slices.Contains(r.Prohibited, implied.Name) || prior.DomainID == "" && implied.DomainID != "" {
			return fault.New(fault.Forbidden, "%s cannot be an implied roles.", impliedID)
		}
		_, err = c.Exec(ctx, `insert into implied_role (prior_role_id, implied_role_id) values ($1, $2)`, priorID, impliedID)
		return err
	})
	if errors.Is(err, db.ErrDuplicate) {
		return Inference{}, fault.Duplicate("implied_role", "Duplicate entry")
	}
	if err != nil && !errors.Is(err, db.ErrReference) {
		return Inference{}, fault.Wrap(err, "imply role", impliedID)
	}
	// This also tells which role was deleted in between.
	return r.Implied(ctx, priorID, impliedID)
}

// Unimply takes an implication back; 404 when it, or a role, does not exist.
func (r Roles) Unimply(ctx context.Context, priorID, impliedID string) error {
	if _, err := r.Implied(ctx, priorID, impliedID); err != nil {
		return err
	}
	n, err := r.DB.Exec(ctx, unimply, priorID, impliedID)
	if err == nil && n == 0 {
		return notImplied(priorID, impliedID) // another took it back in between
	}
	return fault.Wrap(err, "remove implied role", impliedID)
}

func notImplied(priorID, impliedID string) error {
	return fault.New(fault.NotFound, "%s does not imply %s.", priorID, impliedID)
}
