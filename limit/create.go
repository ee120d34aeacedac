package limit

import (
	"context"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// Create stores limits, all or none, and returns them; that of a project that
// acts as a domain becomes the domain's. 400 when a service, region, project or
// domain does not exist, 403 when the model forbids a value or the resource has
// no registered limit, 409 when the project or domain has one already.
func (l Limits) Create(ctx context.Context, list []Limit) ([]Limit, error) {
	var out []Limit
	err := l.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		there := named(&b, c.Dialect(), list)
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		var err error
		if out, err = there.settle(list); err != nil {
			return err
		}
		t := newTree(there.owners.All())
		t.register(there.registered.All())
		if err := l.fit(ctx, c, t, out); err != nil {
			return err
		}
		var writes db.Batch
		for _, n := range out {
			writes.Exec(insertLimit, n.ID, null(n.ProjectID), null(n.DomainID), n.Value, n.Description, n.registered)
		}
		return c.Send(ctx, &writes)
	})
	return out, fault.Wrap(err, "create", "limits")
}

// names are the rows that limits to be made name.
type names struct {
	references
	owners     *db.Result[resource.Project]
	registered *db.Result[Registered]
}

// named queues their reads. Whoever makes, changes or deletes what is for the
// same registered limits waits.
func named(b *db.Batch, d db.Dialect, list []Limit) names {
	var owners, services, resources []string
	of := make([]Resource, len(list))
	for i, l := range list {
		of[i] = l.Resource
		owners = append(owners, l.ProjectID, l.DomainID)
		services, resources = append(services, l.ServiceID), append(resources, l.Name)
	}
	var w db.Where
	w.AndIn(`r.service_id`, distinct(services))
	w.AndIn(`r.resource_name`, distinct(resources))
	return names{
		references: referred(b, "", of),
		owners:     db.Add(b, resource.ProjectsByID(distinct(owners))),
		registered: db.Add(b, registeredBy(d, w)),
	}
}

// settle checks what the limits name, and gives them as they are to be stored.
func (n names) settle(list []Limit) ([]Limit, error) {
	domains := map[string]bool{} // whether a project acts as a domain
	for _, p := range n.owners.All() {
		domains[p.ID] = p.IsDomain
	}
	out := make([]Limit, len(list))
	for i, l := range list {
		if err := n.missing("limit", l.Resource); err != nil {
			return nil, err
		}
		isDomain, found := domains[l.ProjectID]
		switch {
		case l.ProjectID != "" && !found:
			return nil, fault.Invalid("project_id", "limit")
		case l.ProjectID != "" && isDomain:
			l.ProjectID, l.DomainID = "", l.ProjectID
		case l.ProjectID == "" && !domains[l.DomainID]:
			return nil, fault.Invalid("domain_id", "limit")
		}
		out[i] = l
	}
	return out, nil
}

// owned is what a project or domain may have one limit for.
type owned struct{ projectID, domainID, registered string }

// fit holds the limits against the model and what is stored, and fills in the
// registered limits that they are for.
func (l Limits) fit(ctx context.Context, c db.Conn, t *tree, list []Limit) error {
	var registered, projects, domains []string
	for i, n := range list {
		list[i].registered = t.registered[n.Resource].ID
		registered, projects, domains = append(registered, list[i].registered), append(projects, n.ProjectID), append(domains, n.DomainID)
	}
	registered = distinct(registered)
	var b db.Batch
	stored := []*db.Result[Limit]{
		db.Add(&b, limitsOf(`l.project_id`, distinct(projects), registered)),
		db.Add(&b, limitsOf(`l.domain_id`, distinct(domains), registered)),
	}
	load := func() {}
	if l.Model.levels > 0 {
		load = t.queue(&b, list, registered)
	}
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	if load(); l.Model.levels > 0 {
		if err := t.check(list); err != nil {
			return err
		}
	}
	taken := map[owned]bool{}
	for _, s := range stored {
		for _, one := range s.All() {
			taken[owned{one.ProjectID, one.DomainID, one.registered}] = true
		}
	}
	return first(list, taken)
}

// first refuses limits that are not the first for their owner, or that have no
// registered one.
func first(list []Limit, taken map[owned]bool) error {
	for _, n := range list {
		key := owned{n.ProjectID, n.DomainID, n.registered}
		switch {
		case n.registered == "":
			return fault.New(fault.Forbidden, "Unable to create a limit that has no corresponding registered limit.")
		case taken[key]:
			return duplicate("limit")
		}
		taken[key] = true
	}
	return nil
}
