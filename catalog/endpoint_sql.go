package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

const endpointCols = `e.id, e.interface, e.service_id, e.url, e.region_id, e.enabled, e.extra`

var endpointTable = table[Endpoint]{
	name: "endpoint", kind: "endpoint",
	insert: `insert into endpoint (id, interface, service_id, url, region_id, enabled, extra) values ($1, $2, $3, $4, $5, $6, $7)`,
	update: `update endpoint
set interface = $2, service_id = $3, url = $4, region_id = $5, enabled = $6, extra = $7
where id = $1`,
	values: func(e Endpoint) []any {
		return []any{e.ID, e.Interface, e.ServiceID, e.URL, e.RegionID, e.Enabled, pyjson.WriteExtra(e.Extra)}
	},
	source: hints.Source[Endpoint]{
		Select: `select ` + endpointCols + ` from endpoint e`,
		Columns: map[string]hints.Column{
			"interface": {SQL: "e.interface", Max: 8}, "service_id": {SQL: "e.service_id", Max: 64}, "region_id": {SQL: "e.region_id", Max: 255},
		},
		ID:   "e.id",
		Scan: scanEndpoint,
	},
}

func scanEndpoint(r db.Row) (Endpoint, error) {
	var e Endpoint
	var extra *string
	err := r.Scan(&e.ID, &e.Interface, &e.ServiceID, &e.URL, &e.RegionID, &e.Enabled, &extra)
	e.Extra = pyjson.ReadExtra(deref(extra))
	return e, err
}

// EndpointsOfService reads the endpoints of a service.
func EndpointsOfService(serviceID string) db.Query[Endpoint] {
	return db.Query[Endpoint]{
		Text: endpointTable.source.Select + ` where e.service_id = $1 order by e.id`,
		Args: []any{serviceID},
		Scan: scanEndpoint,
	}
}
