package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// EndpointFilter says which endpoints the catalogs of which projects hold.
type EndpointFilter struct{ DB db.DB }

// Endpoints lists those that a project is tied to, one by one or through its
// endpoint groups; 404 when there is no such project.
func (f EndpointFilter) Endpoints(ctx context.Context, projectID string) ([]Endpoint, error) {
	var b db.Batch
	project, endpoints := db.Add(&b, resource.ProjectByID(projectID)), db.Add(&b, allEndpoints)
	ties := db.Add(&b, tiesOf(projectID))
	if err := f.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the endpoints of project", projectID)
	}
	if len(project.All()) == 0 {
		return nil, fault.NoSuch("project", projectID)
	}
	linked, filters := sorted(ties.All())
	return slices.DeleteFunc(endpoints.All(), func(e Endpoint) bool {
		return !linked[e.ID] && !slices.ContainsFunc(filters, func(f groupFilter) bool { return f.match(e.line()) })
	}), nil
}

// Projects lists the projects that an endpoint is tied to by itself; 404 when
// there is no such endpoint.
func (f EndpointFilter) Projects(ctx context.Context, endpointID string) ([]resource.Record, error) {
	var b db.Batch
	endpoints := db.Add(&b, endpointTable.byID(endpointID))
	found := resource.RecordsIn(&b, "", `select f.project_id from project_endpoint f where f.endpoint_id = $1`, endpointID)
	if err := f.DB.Send(ctx, &b); err != nil {
		return nil, fault.Wrap(err, "list the projects of endpoint", endpointID)
	}
	if len(endpoints.All()) == 0 {
		return nil, fault.NoSuch("endpoint", endpointID)
	}
	return found.All(), nil
}

// Has answers 404 when the endpoint, or the project, does not exist, or when
// they are not tied by themselves.
func (f EndpointFilter) Has(ctx context.Context, projectID, endpointID string) error {
	var b db.Batch
	endpoint, project := db.Add(&b, endpointTable.byID(endpointID)), db.Add(&b, resource.ProjectByID(projectID))
	tie := db.Add(&b, idsOf(`select endpoint_id from project_endpoint where endpoint_id = $1 and project_id = $2`, endpointID, projectID))
	if err := f.DB.Send(ctx, &b); err != nil {
		return fault.Wrap(err, "look for endpoint", endpointID)
	}
	switch {
	case len(endpoint.All()) == 0:
		return fault.NoSuch("endpoint", endpointID)
	case len(project.All()) == 0:
		return fault.NoSuch("project", projectID)
	case len(tie.All()) == 0:
		return notIn(endpointID, projectID)
	}
	return nil
}

func notIn(endpointID, projectID string) error {
	return fault.New(fault.NotFound, "Endpoint %s not found in project %s", endpointID, projectID)
}

// Add ties an endpoint to a project: 404 when either does not exist, 409 when
// it is tied.
func (f EndpointFilter) Add(ctx context.Context, projectID, endpointID string) error {
	err := f.DB.Tx(ctx, func(c db.Conn) error {
		var b db.Batch
		endpoint, project := db.Add(&b, endpointTable.held(c.Dialect(), endpointID)), db.Add(&b, resource.Held(c.Dialect(), projectID))
		if err := c.Send(ctx, &b); err != nil {
			return err
		}
		switch {
		case len(endpoint.All()) == 0:
			return fault.NoSuch("endpoint", endpointID)
		case len(project.All()) == 0:
			return fault.NoSuch("project", projectID)
		}
		_, err := c.Exec(ctx, `insert into project_endpoint (endpoint_id, project_id) values ($1, $2)`, endpointID, projectID)
		return err
	})
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("project_endpoint", "Duplicate entry")
	}
	return fault.Wrap(err, "add endpoint", endpointID)
}

// Remove unties an endpoint from a project; 404 when they are not tied.
func (f EndpointFilter) Remove(ctx context.Context, projectID, endpointID string) error {
	n, err := f.DB.Exec(ctx, `delete from project_endpoint where endpoint_id = $1 and project_id = $2`, endpointID, projectID)
	if err == nil && n == 0 {
		return notIn(endpointID, projectID)
	}
	return fault.Wrap(err, "remove endpoint", endpointID)
}
