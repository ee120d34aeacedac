package catalog

import (
	"context"

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
	return policyTable.get(ctx, p.DB, id)
}

// List returns the policies by id; all filters are left over.
func (p Policies) List(ctx context.Context, h hints.Hints) (hints.Page[Policy], error) {
	return policyTable.list(ctx, p.DB, h)
}

// Create stores a policy.
func (p Policies) Create(ctx context.Context, n Policy) error {
	return fault.Wrap(policyTable.store(ctx, p.DB, n), "create policy", n.ID)
}

// Update changes a policy and returns it; 404 when there is none.
func (p Policies) Update(ctx context.Context, id string, change PolicyChange) (Policy, error) {
	return policyTable.change(ctx, p.DB, id, func(row *Policy) {
		set(&row.Type, change.Type)
		if change.Blob != nil {
			row.Blob = change.Blob
		}
		row.Extra = row.Extra.Merge(change.Extra)
	})
}

// Delete removes a policy and its ties; 404 when there is none.
func (p Policies) Delete(ctx context.Context, id string) error {
	err := p.DB.Tx(ctx, func(c db.Conn) error {
		if err := policyTable.remove(ctx, c, id); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `delete from policy_association where policy_id = $1`, id)
		return err
	})
	return fault.Wrap(err, "delete policy", id)
}
