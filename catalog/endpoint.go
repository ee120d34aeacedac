package catalog

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Endpoint is where a service is reached.
type Endpoint struct {
	ID, Interface, ServiceID, URL string
	RegionID                      *string
	Enabled                       bool
	Extra                         pyjson.Object
}

// EndpointChange is what an update sets; a nil field stays as it is.
type EndpointChange struct {
	Interface, ServiceID, URL *string
	RegionID                  **string // set to nil: none
	// MakeRegion creates the region where there is none.
	MakeRegion bool
	Enabled    *bool
	Extra      pyjson.Object // added to what is there
}

// Endpoints are the endpoints of a database.
type Endpoints struct {
	DB db.DB
	// Limit is [catalog] list_limit, 0 for none.
	Limit int
}

// Get returns an endpoint; 404 when there is none.
func (e Endpoints) Get(ctx context.Context, id string) (Endpoint, error) {
	return endpointTable.get(ctx, e.DB, id)
}

// List returns the endpoints that match, by id.
func (e Endpoints) List(ctx context.Context, h hints.Hints) (hints.Page[Endpoint], error) {
	return endpointTable.list(ctx, e.DB, h)
}

// Create stores an endpoint: 400 when its URL cannot be filled in, or its
// service or region does not exist. makeRegion creates the region instead, and
// the answer tells whether it did.
func (e Endpoints) Create(ctx context.Context, n Endpoint, makeRegion bool) (made bool, err error) {
	if err := CheckURL(n.URL); err != nil {
		return false, err
	}
	err = again(ctx, e.DB, func(c db.Conn) (err error) {
		if made, err = refer(ctx, c, n.RegionID, &n.ServiceID, makeRegion); err != nil {
			return err
		}
		return endpointTable.store(ctx, c, n)
	})
	return made && err == nil, fault.Wrap(err, "create endpoint", n.ID)
}

// CreateEndpoint stores an endpoint in a transaction of the caller's.
func CreateEndpoint(ctx context.Context, c db.Conn, n Endpoint) error {
	return fault.Wrap(endpointTable.store(ctx, c, n), "create endpoint", n.ID)
}

// SetEndpointURL changes where an endpoint points to.
func SetEndpointURL(ctx context.Context, c db.Conn, id, url string) error {
	_, err := c.Exec(ctx, `update endpoint set url = $1 where id = $2`, url, id)
	return fault.Wrap(err, "update endpoint", id)
}

// Update changes an endpoint and returns it: 404 when there is none, 400 when
// its new service or region does not exist. A new URL is not looked at, as in
// Python Keystone; the catalog leaves out what it cannot fill in. It tells
// whether it made the region, as Create.
func (e Endpoints) Update(ctx context.Context, id string, change EndpointChange) (out Endpoint, made bool, err error) {
	err = again(ctx, e.DB, func(c db.Conn) (err error) {
		var region *string
		set(&region, change.RegionID)
		if made, err = refer(ctx, c, region, change.ServiceID, change.MakeRegion); err != nil {
			return err
		}
		out, err = endpointTable.rewrite(ctx, c, id, func(row *Endpoint) error {
			change.apply(row)
			return nil
		})
		return err
	})
	return out, made && err == nil, fault.Wrap(err, "update endpoint", id)
}

func (c EndpointChange) apply(e *Endpoint) {
	set(&e.Interface, c.Interface)
	set(&e.ServiceID, c.ServiceID)
	set(&e.URL, c.URL)
	set(&e.RegionID, c.RegionID)
	set(&e.Enabled, c.Enabled)
	e.Extra = e.Extra.Merge(c.Extra)
}

// again runs f in a transaction, and anew where what it saw has changed in
// between: what an endpoint points to may go, what is deleted may be pointed
// to, and two may make the same region.
func again(ctx context.Context, d db.DB, f func(db.Conn) error) error {
	var err error
	for range 3 {
		if err = d.Tx(ctx, f); !errors.Is(err, db.ErrReference) && !errors.Is(err, db.ErrDuplicate) {
			break
		}
	}
	return err
}

// refer looks whether the region and the service of an endpoint exist, each
// where it is not nil, and tells whether it made the region.
func refer(ctx context.Context, c db.Conn, regionID, serviceID *string, makeRegion bool) (made bool, err error) {
	var b db.Batch
	regions, services := &db.Result[Region]{}, &db.Result[Service]{}
	if regionID != nil {
		regions = db.Add(&b, regionTable.byID(*regionID))
	}
	if serviceID != nil {
		services = db.Add(&b, serviceTable.byID(*serviceID))
	}
	if err := c.Send(ctx, &b); err != nil {
		return false, err
	}
	missing := regionID != nil && len(regions.All()) == 0
	switch {
	case missing && !makeRegion:
		return false, fault.Invalid("endpoint region_id", "region table")
	case serviceID != nil && len(services.All()) == 0:
		return false, fault.Invalid("endpoint service_id", "service table")
	case missing:
		return true, regionTable.store(ctx, c, Region{ID: *regionID})
	}
	return false, nil
}

// Delete removes an endpoint and its ties to projects and policies; 404 when
// there is none.
func (e Endpoints) Delete(ctx context.Context, id string) error {
	err := e.DB.Tx(ctx, func(c db.Conn) error {
		if err := endpointTable.remove(ctx, c, id); err != nil {
			return err
		}
		var b db.Batch
		b.Exec(`delete from project_endpoint where endpoint_id = $1`, id)
		b.Exec(`delete from policy_association where endpoint_id = $1`, id)
		return c.Send(ctx, &b)
	})
	return fault.Wrap(err, "delete endpoint", id)
}
