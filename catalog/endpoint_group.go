package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// EndpointGroup names the endpoints whose attributes its filters are.
type EndpointGroup struct {
	ID, Name    string
	Description *string
	Filters     pyjson.Object
}

// EndpointGroupChange is what an update sets; a nil field stays as it is.
type EndpointGroupChange struct {
	Name        *string
	Description **string // set to nil: null
	Filters     pyjson.Object
}

// EndpointGroups are the endpoint groups of a database.
type EndpointGroups struct{ DB db.DB }

// Get returns a group; 404 when there is none.
func (g EndpointGroups) Get(ctx context.Context, id string) (EndpointGroup, error) {
	return groupTable.get(ctx, g.DB, id)
}

// List returns the groups that match, by id.
func (g EndpointGroups) List(ctx context.Context, h hints.Hints) (hints.Page[EndpointGroup], error) {
	return groupTable.list(ctx, g.DB, h)
}

// Create stores a group.
func (g EndpointGroups) Create(ctx context.Context, n EndpointGroup) error {
	return fault.Wrap(groupTable.store(ctx, g.DB, n), "create endpoint group", n.ID)
}

// Update changes a group and returns it; 404 when there is none.
func (g EndpointGroups) Update(ctx context.Context, id string, change EndpointGroupChange) (EndpointGroup, error) {
	return groupTable.change(ctx, g.DB, id, func(row *EndpointGroup) {
		set(&row.Name, change.Name)
		set(&row.Description, change.Description)
		if change.Filters != nil {
			row.Filters = change.Filters
		}
	})
}

// Delete removes a group, and takes it from the projects that have it; 404 when
// there is none.
func (g EndpointGroups) Delete(ctx context.Context, id string) error {
	err := again(ctx, g.DB, func(c db.Conn) error {
		if _, err := c.Exec(ctx, `delete from project_endpoint_group where endpoint_group_id = $1`, id); err != nil {
			return err
		}
		return groupTable.remove(ctx, c, id)
	})
	return fault.Wrap(err, "delete endpoint group", id)
}

// Endpoints lists the endpoints of a group; 404 when there is none.
func (g EndpointGroups) Endpoints(ctx context.Context, id string) ([]Endpoint, error) {
	var b db.Batch
	groups, endpoints := db.Add(&b, groupTable.byID(id)), db.Add(&b, allEndpoints)
	if err := g.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the endpoints of endpoint group", id)
	}
	if len(groups.All()) == 0 {
		return nil, groupTable.none(id)
	}
	f := groups.All()[0].filter()
	return slices.DeleteFunc(endpoints.All(), func(e Endpoint) bool { return !f.match(e.line()) }), nil
}

func (g EndpointGroup) filter() groupFilter { return groupFilter(g.Filters.Map()) }

// line is the endpoint as a catalog's filters see it.
func (e Endpoint) line() line {
	return line{serviceID: e.ServiceID, endpointID: e.ID, iface: e.Interface, regionID: e.RegionID, enabled: e.Enabled, hasEndpoint: true}
}

// Projects lists the projects that have a group; none when there is no such
// group, as in Python Keystone.
func (g EndpointGroups) Projects(ctx context.Context, id string) ([]resource.Record, error) {
	var b db.Batch
	found := resource.RecordsIn(&b, "", `select f.project_id from project_endpoint_group f where f.endpoint_group_id = $1`, id)
	if err := g.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the projects of endpoint group", id)
	}
	return found.All(), nil
}

// OfProject lists the groups that a project has; 404 when there is no such
// project.
func (g EndpointGroups) OfProject(ctx context.Context, projectID string) ([]EndpointGroup, error) {
	var b db.Batch
	project, groups := db.Add(&b, resource.ProjectByID(projectID)), db.Add(&b, groupsOfProject(projectID))
	if err := g.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the endpoint groups of project", projectID)
	}
	if len(project.All()) == 0 {
		return nil, fault.NoSuch("project", projectID)
	}
	return groups.All(), nil
}

// Has answers 404 when the project, or the group, does not exist, or when the
// project does not have the group.
func (g EndpointGroups) Has(ctx context.Context, projectID, id string) error {
	var b db.Batch
	project, group, tie := db.Add(&b, resource.ProjectByID(projectID)), db.Add(&b, groupTable.byID(id)), db.Add(&b, groupOf(projectID, id))
	if err := g.DB.Send(ctx, &b); err != nil {
		return fault.Wrap(err, "look for endpoint group", id)
	}
	switch {
	case len(project.All()) == 0:
		return fault.NoSuch("project", projectID)
	case len(group.All()) == 0:
		return groupTable.none(id)
	case len(tie.All()) == 0:
		return noGroupTie()
	}
	return nil
}

func noGroupTie() error {
	return fault.New(fault.NotFound, "Endpoint Group Project Association not found")
}

// Add gives a project a group: 404 when either does not exist, 409 when it has
// it.
func (g EndpointGroups) Add(ctx context.Context, projectID, id string) error {
	err := g.change(ctx, projectID, id, func(c db.Conn) error {
		_, err := c.Exec(ctx, `insert into project_endpoint_group (endpoint_group_id, project_id) values ($1, $2)`, id, projectID)
		return err
	})
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("project_endpoint_group", "Duplicate entry")
	}
	return fault.Wrap(err, "add endpoint group", id)
}

// Remove takes a group from a project; 404 when either does not exist, or the
// project does not have it.
func (g EndpointGroups) Remove(ctx context.Context, projectID, id string) error {
	err := g.change(ctx, projectID, id, func(c db.Conn) error {
		n, err := c.Exec(ctx, `delete from project_endpoint_group where endpoint_group_id = $1 and project_id = $2`, id, projectID)
		if err == nil && n == 0 {
			return noGroupTie()
		}
		return err
	})
	return fault.Wrap(err, "remove endpoint group", id)
}

// change runs f while both the project and the group stay.
func (g EndpointGroups) change(ctx context.Context, projectID, id string, f func(db.Conn) error) error {
	return g.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		project, group := db.Add(&b, resource.Held(c.Dialect(), projectID)), db.Add(&b, groupTable.held(c.Dialect(), id))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		switch {
		case len(project.All()) == 0:
			return fault.NoSuch("project", projectID)
		case len(group.All()) == 0:
			return groupTable.none(id)
		}
		return f(c)
	})
}
