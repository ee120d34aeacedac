package limit

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
)

// Registered is how much of a resource each project may use where no limit of
// its own says otherwise.
type Registered struct {
	ID string
	Resource
	Default     int64 // -1 is without a bound
	Description *string
}

// RegisteredChange is what an update sets; a nil field stays as it is.
type RegisteredChange struct {
	ServiceID, Name *string
	RegionID        *string // set to "": none
	Default         *int64
	Description     **string // set to nil: none
}

// Registry are the registered limits of a database.
type Registry struct{ DB db.DB }

// Get returns a registered limit; 404 when there is none.
func (r Registry) Get(ctx context.Context, id string) (Registered, error) {
	var w db.Where
	w.And(`r.id = ?`, id)
	out, err := db.One(ctx, r.DB, db.Query[Registered]{Text: registeredSource.Select + w.String(), Args: w.Args, Scan: scanRegistered})
	if errors.Is(err, db.ErrNoRow) {
		return out, noRegistered(id)
	}
	return out, fault.Wrap(err, "read registered limit", id)
}

// List returns the registered limits that match, by id.
func (r Registry) List(ctx context.Context, h hints.Hints) (hints.Page[Registered], error) {
	p, err := hints.List(ctx, r.DB, h, registeredSource)
	return p, fault.Wrap(err, "list rows of", "registered_limit")
}

// Create stores registered limits, all or none: 400 when a service or region
// does not exist, 409 when a resource has one already.
func (r Registry) Create(ctx context.Context, list []Registered) error {
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		var services []string
		for _, n := range list {
			services = append(services, n.ServiceID)
		}
		var w db.Where
		w.AndIn(`r.service_id`, distinct(services))
		var b db.Batch
		// Whoever registers limits of the same services waits.
		there := referred(&b, db.ForUpdate(c.Dialect()), resourcesOf(list))
		taken := db.Add(&b, registeredBy(c.Dialect(), w))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		if err := there.check("registered_limit", resourcesOf(list)); err != nil {
			return err
		}
		known := map[Resource]bool{}
		for _, t := range taken.All() {
			known[t.Resource] = true
		}
		var writes db.Batch
		for _, n := range list {
			if known[n.Resource] {
				return duplicate("registered_limit")
			}
			known[n.Resource] = true
			writes.Exec(insertReg, n.ID, n.ServiceID, null(n.RegionID), n.Name, n.Default, n.Description)
		}
		return c.Send(ctx, &writes)
	})
	return fault.Wrap(err, "create registered", "limits")
}

// Update changes a registered limit and returns it: 400 when its new service or
// region does not exist, 404 when there is no such limit, 403 when a limit is for
// it, 409 when a resource that the change names has one already, be it this one.
func (r Registry) Update(ctx context.Context, id string, ch RegisteredChange) (Registered, error) {
	var out Registered
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		wanted := []Resource{{ServiceID: deref(ch.ServiceID), RegionID: deref(ch.RegionID)}}
		there := referred(&b, db.ForUpdate(c.Dialect()), wanted)
		// Whoever registers a limit of the service meanwhile waits.
		db.Add(&b, idsOf(`select s.id from service s where s.id = (select r.service_id from registered_limit r where r.id = $1)`+db.ForUpdate(c.Dialect()), id))
		rows, used := db.Add(&b, registeredByID(c.Dialect(), id)), db.Add(&b, someLimit(id))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		if err := there.check("registered_limit", wanted); err != nil {
			return err
		}
		if err := free(id, rows.All(), used.All()); err != nil {
			return err
		}
		out = ch.apply(rows.All()[0])
		if err := ch.alone(ctx, c, out); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `update registered_limit set service_id = $2, region_id = $3, resource_name = $4, default_limit = $5, description = $6 where id = $1`,
			id, null(out.ServiceID), null(out.RegionID), null(out.Name), out.Default, out.Description)
		return err
	})
	return out, fault.Wrap(err, "update registered limit", id)
}

func (ch RegisteredChange) apply(r Registered) Registered {
	set(&r.ServiceID, ch.ServiceID)
	set(&r.RegionID, ch.RegionID)
	set(&r.Name, ch.Name)
	set(&r.Default, ch.Default)
	set(&r.Description, ch.Description)
	return r
}

// alone refuses a change that names a resource which is registered. It is asked
// of the row as it was, as in Python Keystone: naming what it has already is
// refused too.
func (ch RegisteredChange) alone(ctx context.Context, c db.Conn, r Registered) error {
	if ch.ServiceID == nil && ch.RegionID == nil && ch.Name == nil {
		return nil
	}
	var w db.Where
	r.Resource.is(&w)
	found, err := db.All(ctx, c, idsOf(`select r.id from registered_limit r`+w.String(), w.Args...))
	if err == nil && len(found) > 0 {
		return duplicate("registered_limit")
	}
	return err
}

// Delete removes a registered limit: 404 when there is none, 403 when a limit
// is for it.
func (r Registry) Delete(ctx context.Context, id string) error {
	err := r.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		rows, used := db.Add(&b, registeredByID(c.Dialect(), id)), db.Add(&b, someLimit(id))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		if err := free(id, rows.All(), used.All()); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `delete from registered_limit where id = $1`, id)
		return err
	})
	return fault.Wrap(err, "delete registered limit", id)
}

// free refuses a change of what is not there or what a limit is for.
func free(id string, rows []Registered, used []string) error {
	switch {
	case len(rows) == 0:
		return noRegistered(id)
	case len(used) > 0:
		return fault.New(fault.Forbidden, "Unable to update or delete registered limit %s because there are project limits associated with it.", id)
	}
	return nil
}

func noRegistered(id string) error {
	return fault.New(fault.NotFound, "Could not find registered limit for %s.", id)
}

func duplicate(kind string) error { return fault.Duplicate(kind, "Duplicate entry") }

// references are the services and regions that limits name.
type references struct{ services, regions *db.Result[string] }

// referred queues their reads; end is what the services' ends with.
func referred(b *db.Batch, end string, list []Resource) references {
	var services, regions []string
	for _, r := range list {
		services, regions = append(services, r.ServiceID), append(regions, r.RegionID)
	}
	return references{db.Add(b, idsIn("service", end, distinct(services))), db.Add(b, idsIn("region", "", distinct(regions)))}
}

// check tells of the first that is missing.
func (r references) check(target string, list []Resource) error {
	for _, of := range list {
		if err := r.missing(target, of); err != nil {
			return err
		}
	}
	return nil
}

func (r references) missing(target string, of Resource) error {
	switch {
	case of.ServiceID != "" && !slices.Contains(r.services.All(), of.ServiceID):
		return fault.Invalid("service_id", target)
	case of.RegionID != "" && !slices.Contains(r.regions.All(), of.RegionID), utf8.RuneCountInString(of.RegionID) > longestRegion:
		return fault.Invalid("region_id", target)
	}
	return nil
}

func resourcesOf(list []Registered) []Resource {
	out := make([]Resource, len(list))
	for i, r := range list {
		out[i] = r.Resource
	}
	return out
}

// distinct gives each text once, "" never.
func distinct(list []string) []string {
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// set changes what a change names.
func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
