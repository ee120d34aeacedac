package catalog

import (
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Service is a service of the catalog; its name is kept in Extra, as Python
// does.
type Service struct {
	ID      string
	Type    *string // a service may have none in the database
	Enabled bool
	Extra   pyjson.Object
}

// ServiceChange is what an update sets; a nil field stays as it is.
type ServiceChange struct {
	Type    *string
	Enabled *bool
	Extra   pyjson.Object // added to what is there
}

// Services are the services of a database.
type Services struct {
	DB db.DB
	// Limit is [catalog] list_limit, 0 for none.
	Limit int
}

// Get returns a service; 404 when there is none.
func (s Services) Get(ctx context.Context, id string) (Service, error) {
	return serviceTable.get(ctx, s.DB, id)
}

// List returns the services that match, by id.
func (s Services) List(ctx context.Context, h hints.Hints) (hints.Page[Service], error) {
	return serviceTable.list(ctx, s.DB, h)
}

// Create stores a service.
func (s Services) Create(ctx context.Context, n Service) error {
	return fault.Wrap(CreateService(ctx, s.DB, n), "create service", n.ID)
}

// CreateService stores a service in a transaction of the caller's.
func CreateService(ctx context.Context, c db.Conn, n Service) error {
	err := serviceTable.store(ctx, c, n)
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("service", "Duplicate ID, %s.", n.ID)
	}
	return err
}

// Update changes a service and returns it; 404 when there is none.
func (s Services) Update(ctx context.Context, id string, change ServiceChange) (Service, error) {
	return serviceTable.change(ctx, s.DB, id, func(row *Service) {
		if change.Type != nil {
			row.Type = change.Type
		}
		set(&row.Enabled, change.Enabled)
		row.Extra = row.Extra.Merge(change.Extra)
	})
}

// Delete removes a service with its endpoints and the ties of both to projects
// and policies; 404 when there is none.
func (s Services) Delete(ctx context.Context, id string) error {
	err := again(ctx, s.DB, func(c db.Conn) error {
		// Whoever ties something to the service or its endpoints now waits.
		for _, q := range []db.Query[string]{
			serviceTable.held(c.Dialect(), id),
			idsOf(`select id from endpoint where service_id = $1 order by id`+db.ForUpdate(c.Dialect()), id),
		} {
			if _, err := db.All(ctx, c, q); err != nil {
				return err
			}
		}
		var b db.Batch
		b.Exec(`delete from project_endpoint where endpoint_id in (select id from endpoint where service_id = $1)`, id)
		b.Exec(`delete from policy_association where service_id = $1 or endpoint_id in (select id from endpoint where service_id = $1)`, id)
		b.Exec(`delete from endpoint where service_id = $1`, id)
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		return serviceTable.remove(ctx, c, id)
	})
	return fault.Wrap(err, "delete service", id)
}
