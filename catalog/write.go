package catalog

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Endpoint is where a service is reached.
type Endpoint struct {
	ID, Interface, ServiceID, URL string
	RegionID                      *string
	Enabled                       bool
	Extra                         string // JSON object
}

// CreateEndpoint stores an endpoint.
func CreateEndpoint(ctx context.Context, c db.Conn, e Endpoint) error {
	_, err := c.Exec(ctx, `insert into endpoint (id, interface, service_id, url, region_id, enabled, extra) values ($1, $2, $3, $4, $5, $6, $7)`,
		e.ID, e.Interface, e.ServiceID, e.URL, e.RegionID, e.Enabled, orEmpty(e.Extra))
	if err != nil {
		return fmt.Errorf("create endpoint %s: %w", e.ID, err)
	}
	return nil
}

// SetEndpointURL changes where an endpoint points to.
func SetEndpointURL(ctx context.Context, c db.Conn, id, url string) error {
	if _, err := c.Exec(ctx, `update endpoint set url = $1 where id = $2`, url, id); err != nil {
		return fmt.Errorf("update endpoint %s: %w", id, err)
	}
	return nil
}

// EndpointsOfService reads the endpoints of a service.
func EndpointsOfService(serviceID string) db.Query[Endpoint] {
	return db.Query[Endpoint]{
		Text: `select e.id, e.interface, e.service_id, e.url, e.region_id, e.enabled, e.extra from endpoint e where e.service_id = $1 order by e.id`,
		Args: []any{serviceID},
		Scan: func(r db.Row) (Endpoint, error) {
			var e Endpoint
			var extra *string
			err := r.Scan(&e.ID, &e.Interface, &e.ServiceID, &e.URL, &e.RegionID, &e.Enabled, &extra)
			e.Extra = deref(extra)
			return e, err
		},
	}
}

func orEmpty(extra string) string {
	if extra == "" {
		return "{}"
	}
	return extra
}
