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
	return service(ctx, s.DB, id)
}

func service(ctx context.Context, c db.Conn, id string) (Service, error) {
	out, err := db.One(ctx, c, ServiceByID(id))
	if errors.Is(err, db.ErrNoRow) {
		return Service{}, fault.NoSuch("service", id)
	}
	return out, wrap(err, "read service", id)
}

// List returns the services that match, by id.
func (s Services) List(ctx context.Context, h hints.Hints) (hints.Page[Service], error) {
	p, err := hints.List(ctx, s.DB, h, serviceSource)
	return p, wrap(err, "list", "services")
}

// Create stores a service.
func (s Services) Create(ctx context.Context, n Service) error {
	return wrap(CreateService(ctx, s.DB, n), "create service", n.ID)
}

// CreateService stores a service in a transaction of the caller's.
func CreateService(ctx context.Context, c db.Conn, n Service) error {
	_, err := c.Exec(ctx, insertService, n.ID, n.Type, n.Enabled, writeExtra(n.Extra))
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("service", "Duplicate ID, %s.", n.ID)
	}
	return err
}

// Update changes a service and returns it; 404 when there is none.
func (s Services) Update(ctx context.Context, id string, change ServiceChange) (Service, error) {
	var out Service
	err := s.DB.Tx(ctx, func(c db.Conn) (err error) {
		if out, err = service(ctx, c, id); err != nil {
			return err
		}
		if change.Type != nil {
			out.Type = change.Type
		}
		if change.Enabled != nil {
			out.Enabled = *change.Enabled
		}
		out.Extra = merge(out.Extra, change.Extra)
		_, err = c.Exec(ctx, updateService, id, out.Type, out.Enabled, writeExtra(out.Extra))
		return err
	})
	return out, wrap(err, "update service", id)
}

// Delete removes a service with its endpoints and the ties of both to projects
// and policies; 404 when there is none.
func (s Services) Delete(ctx context.Context, id string) error {
	err := again(ctx, s.DB, func(c db.Conn) error {
		// Whoever ties something to the service or its endpoints now waits.
		lock := db.ForUpdate(c.Dialect())
		for _, text := range []string{`select id from service where id = $1`, `select id from endpoint where service_id = $1 order by id`} {
			if _, err := db.All(ctx, c, db.Query[string]{Text: text + lock, Args: []any{id}, Scan: scanText}); err != nil {
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
		n, err := c.Exec(ctx, `delete from service where id = $1`, id)
		if err == nil && n == 0 {
			return fault.NoSuch("service", id)
		}
		return err
	})
	return wrap(err, "delete service", id)
}
