package catalog

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Policy is a text that a service fetches for itself. Nothing here reads it.
type Policy struct {
	ID, Type string
	Blob     any // a text; older releases took any JSON
	Extra    pyjson.Object
}

// PolicyChange is what an update sets; a nil field stays as it is.
type PolicyChange struct {
	Type  *string
	Blob  any
	Extra pyjson.Object // added to what is there
}

// Policies are the policies of a database.
type Policies struct {
	DB db.DB
	// Limit is [policy] list_limit, 0 for none.
	Limit int
}

// Get returns a policy; 404 when there is none.
func (p Policies) Get(ctx context.Context, id string) (Policy, error) {
	return onePolicy(ctx, p.DB, id)
}

func onePolicy(ctx context.Context, c db.Conn, id string) (Policy, error) {
	out, err := db.One(ctx, c, PolicyByID(id))
	if errors.Is(err, db.ErrNoRow) {
		return Policy{}, fault.NoSuch("policy", id)
	}
	return out, wrap(err, "read policy", id)
}

// List returns the policies by id; all filters are left over.
func (p Policies) List(ctx context.Context, h hints.Hints) (hints.Page[Policy], error) {
	page, err := hints.List(ctx, p.DB, h, policySource)
	return page, wrap(err, "list", "policies")
}

// Create stores a policy.
func (p Policies) Create(ctx context.Context, n Policy) error {
	_, err := p.DB.Exec(ctx, insertPolicy, n.ID, n.Type, pyjson.Encode(n.Blob), writeExtra(n.Extra))
	return wrap(err, "create policy", n.ID)
}

// Update changes a policy and returns it; 404 when there is none.
func (p Policies) Update(ctx context.Context, id string, change PolicyChange) (Policy, error) {
	var out Policy
	err := p.DB.Tx(ctx, func(c db.Conn) (err error) {
		if out, err = onePolicy(ctx, c, id); err != nil {
			return err
		}
		if change.Type != nil {
			out.Type = *change.Type
		}
		if change.Blob != nil {
			out.Blob = change.Blob
		}
		out.Extra = merge(out.Extra, change.Extra)
		_, err = c.Exec(ctx, updatePolicy, id, out.Type, pyjson.Encode(out.Blob), writeExtra(out.Extra))
		return err
	})
	return out, wrap(err, "update policy", id)
}

// Delete removes a policy and its ties; 404 when there is none.
func (p Policies) Delete(ctx context.Context, id string) error {
	err := p.DB.Tx(ctx, func(c db.Conn) error {
		n, err := c.Exec(ctx, `delete from policy where id = $1`, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.NoSuch("policy", id)
		}
		_, err = c.Exec(ctx, `delete from policy_association where policy_id = $1`, id)
		return err
	})
	return wrap(err, "delete policy", id)
}
