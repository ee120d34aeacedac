package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// PolicyFor is what a policy is for: an endpoint, a service, or a service in a
// region and below.
type PolicyFor struct{ EndpointID, ServiceID, RegionID string }

// key is the row's own id. It follows from what the row is about, so that two
// who tie the same at once meet in the primary key: nulls are not unique.
func (f PolicyFor) key() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.EndpointID, f.ServiceID, f.RegionID}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// exists looks whether the policy and what it is for are there, and keeps them
// until the transaction is over where hold is set.
func (f PolicyFor) exists(ctx context.Context, c db.Conn, policyID string, hold bool) error {
	lock := ""
	if hold {
		lock = db.ForUpdate(c.Dialect())
	}
	var b db.Batch
	var found []*db.Result[string]
	var missing []error
	for _, x := range []struct{ kind, id string }{
		{"policy", policyID}, {"endpoint", f.EndpointID}, {"service", f.ServiceID}, {"region", f.RegionID},
	} {
		if x.id != "" {
			found = append(found, db.Add(&b, idsOf(`select id from `+x.kind+` where id = $1`+lock, x.id)))
			missing = append(missing, fault.NoSuch(x.kind, x.id))
		}
	}
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	for i, r := range found {
		if len(r.All()) == 0 {
			return missing[i]
		}
	}
	return nil
}

// Tie makes a policy the one for something, in the place of any other; 404 when
// either does not exist.
func (p Policies) Tie(ctx context.Context, policyID string, f PolicyFor) error {
	err := again(ctx, p.DB, func(c db.Conn) error {
		if err := f.exists(ctx, c, policyID, true); err != nil {
			return err
		}
		var w db.Where
		set := w.Arg(policyID)
		f.where(&w)
		n, err := c.Exec(ctx, `update policy_association set policy_id = `+set+w.String(), w.Args...)
		if err != nil || n > 0 {
			return err
		}
		_, err = c.Exec(ctx, insertTie, f.key(), policyID, null(f.EndpointID), null(f.ServiceID), null(f.RegionID))
		return err
	})
	return fault.Wrap(err, "tie policy", policyID)
}

// Untie ends what Tie made, if it did; 404 when the policy or what it is for
// does not exist.
func (p Policies) Untie(ctx context.Context, policyID string, f PolicyFor) error {
	err := p.DB.Tx(ctx, func(c db.Conn) error {
		if err := f.exists(ctx, c, policyID, true); err != nil {
			return err
		}
		var w db.Where
		w.And(`policy_id = ?`, policyID)
		f.where(&w)
		_, err := c.Exec(ctx, `delete from policy_association`+w.String(), w.Args...)
		return err
	})
	return fault.Wrap(err, "untie policy", policyID)
}

// Tied answers 404 when the policy is not the one for f itself, or when either
// does not exist.
func (p Policies) Tied(ctx context.Context, policyID string, f PolicyFor) error {
	if err := f.exists(ctx, p.DB, policyID, false); err != nil {
		return fault.Wrap(err, "look for policy", policyID)
	}
	var w db.Where
	w.And(`policy_id = ?`, policyID)
	f.where(&w)
	_, err := db.One(ctx, p.DB, idsOf(`select id from policy_association`+w.String(), w.Args...))
	if errors.Is(err, db.ErrNoRow) {
		return fault.New(fault.NotFound, "Could not find policy association.")
	}
	return fault.Wrap(err, "look for policy", policyID)
}

// Endpoints lists those that a policy is for, through each of its ties, so that
// one may be there more than once, as in Python Keystone; 404 when there is no
// such policy.
func (p Policies) Endpoints(ctx context.Context, policyID string) ([]Endpoint, error) {
	var b db.Batch
	policies, endpoints := db.Add(&b, policyTable.byID(policyID)), db.Add(&b, endpointsOfPolicy(policyID))
	if err := p.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the endpoints of policy", policyID)
	}
	if len(policies.All()) == 0 {
		return nil, fault.NoSuch("policy", policyID)
	}
	return endpoints.All(), nil
}

// ForEndpoint gives the policy for an endpoint: its own, or else that of its
// service in its region or the nearest above, or else that of its service; 404
// when there is none.
func (p Policies) ForEndpoint(ctx context.Context, endpointID string) (Policy, error) {
	var b db.Batch
	endpoints := db.Add(&b, endpointTable.byID(endpointID))
	ties, regions := db.Add(&b, tiesOfEndpoint(endpointID)), db.Add(&b, regionsOfEndpoint(endpointID))
	if err := p.DB.Send(ctx, &b); err != nil {
		return Policy{}, fault.Wrap(err, "find the policy of endpoint", endpointID)
	}
	if len(endpoints.All()) == 0 {
		return Policy{}, fault.NoSuch("endpoint", endpointID)
	}
	e := endpoints.All()[0]
	wanted := []PolicyFor{{EndpointID: e.ID}}
	parents := map[string]string{}
	for _, r := range regions.All() {
		parents[r.ID] = deref(r.ParentID)
	}
	for at := deref(e.RegionID); at != ""; {
		wanted = append(wanted, PolicyFor{ServiceID: e.ServiceID, RegionID: at})
		above := parents[at]
		delete(parents, at) // a circle ends
		at = above
	}
	wanted = append(wanted, PolicyFor{ServiceID: e.ServiceID})
	for _, f := range wanted {
		for _, t := range ties.All() {
			if t.PolicyFor == f {
				return t.Policy, nil
			}
		}
	}
	return Policy{}, fault.New(fault.NotFound, "No policy is associated with endpoint %s.", endpointID)
}
