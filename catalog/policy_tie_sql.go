package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const insertTie = `insert into policy_association (id, policy_id, endpoint_id, service_id, region_id) values ($1, $2, $3, $4, $5)`

func null(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// where finds the row of a tie.
func (f PolicyFor) where(w *db.Where) {
	for _, c := range []struct{ column, id string }{{"endpoint_id", f.EndpointID}, {"service_id", f.ServiceID}, {"region_id", f.RegionID}} {
		if c.id == "" {
			w.And(c.column + ` is null`)
		} else {
			w.And(c.column+` = ?`, c.id)
		}
	}
}

// endpointsOfPolicy reads an endpoint for each tie through which the policy is
// for it: its own, its service's, or its service's in its region or one above.
// With union a circle of regions ends.
func endpointsOfPolicy(policyID string) db.Query[Endpoint] {
	return db.Query[Endpoint]{
		Text: `with recursive below (tie, service_id, region_id) as (
	select a.id, a.service_id, r.id from policy_association a join region r on r.id = a.region_id
	where a.policy_id = $1 and a.endpoint_id is null and a.service_id is not null
	union
	select b.tie, b.service_id, r.id from region r join below b on r.parent_region_id = b.region_id
)
select ` + endpointCols + ` from policy_association a join endpoint e on e.id = a.endpoint_id where a.policy_id = $1
union all
select ` + endpointCols + ` from policy_association a join endpoint e on e.service_id = a.service_id
where a.policy_id = $1 and a.endpoint_id is null and a.region_id is null
union all
select ` + endpointCols + ` from below b join endpoint e on e.service_id = b.service_id and e.region_id = b.region_id`,
		Args: []any{policyID},
		Scan: scanEndpoint,
	}
}

// policyTie is a tie with its policy.
type policyTie struct {
	PolicyFor
	Policy
}

// tiesOfEndpoint reads the ties of an endpoint and of its service.
func tiesOfEndpoint(endpointID string) db.Query[policyTie] {
	return db.Query[policyTie]{
		Text: `select a.endpoint_id, a.service_id, a.region_id, ` + policyCols + `
from policy_association a join policy p on p.id = a.policy_id
where a.endpoint_id = $1 or a.service_id = (select e.service_id from endpoint e where e.id = $1)
order by a.id`,
		Args: []any{endpointID},
		Scan: func(r db.Row) (t policyTie, err error) {
			var endpoint, service, region, extra *string
			var blob string
			err = r.Scan(&endpoint, &service, &region, &t.ID, &t.Type, &blob, &extra)
			t.PolicyFor = PolicyFor{EndpointID: deref(endpoint), ServiceID: deref(service), RegionID: deref(region)}
			t.Blob, t.Extra = readBlob(blob), pyjson.ReadExtra(deref(extra))
			return t, err
		},
	}
}

// regionsOfEndpoint reads the region of an endpoint and those above it.
func regionsOfEndpoint(endpointID string) db.Query[Region] {
	return db.Query[Region]{
		Text: `with recursive above (id, parent_id) as (
	select r.id, r.parent_region_id from region r join endpoint e on e.region_id = r.id where e.id = $1
	union
	select r.id, r.parent_region_id from region r join above a on r.id = a.parent_id
)
select id, parent_id from above`,
		Args: []any{endpointID},
		Scan: func(r db.Row) (out Region, err error) {
			err = r.Scan(&out.ID, &out.ParentID)
			return out, err
		},
	}
}
