package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
)

const groupCols = `g.id, g.name, g.description, g.filters`

const (
	insertGroup = `insert into endpoint_group (id, name, description, filters) values ($1, $2, $3, $4)`
	updateGroup = `update endpoint_group
set name = $2, description = $3, filters = $4
where id = $1`
)

var groupSource = hints.Source[EndpointGroup]{
	Select:  `select ` + groupCols + ` from endpoint_group g`,
	Columns: map[string]hints.Column{"name": {SQL: "g.name", Max: 255}},
	ID:      "g.id",
	Scan:    scanGroup,
}

func scanGroup(r db.Row) (EndpointGroup, error) {
	var g EndpointGroup
	var filters string
	err := r.Scan(&g.ID, &g.Name, &g.Description, &filters)
	g.Filters = readExtra(filters)
	return g, err
}

func groupByID(id string) db.Query[EndpointGroup] {
	return db.Query[EndpointGroup]{Text: groupSource.Select + ` where g.id = $1`, Args: []any{id}, Scan: scanGroup}
}

func heldGroup(d db.Dialect, id string) db.Query[string] {
	return db.Query[string]{Text: `select id from endpoint_group where id = $1` + db.ForUpdate(d), Args: []any{id}, Scan: scanText}
}

func groupsOfProject(projectID string) db.Query[EndpointGroup] {
	return db.Query[EndpointGroup]{
		Text: groupSource.Select + ` join project_endpoint_group f on f.endpoint_group_id = g.id where f.project_id = $1 order by g.id`,
		Args: []any{projectID},
		Scan: scanGroup,
	}
}

func groupOf(projectID, id string) db.Query[string] {
	return db.Query[string]{
		Text: `select project_id from project_endpoint_group where project_id = $1 and endpoint_group_id = $2`,
		Args: []any{projectID, id},
		Scan: scanText,
	}
}

var allEndpoints = db.Query[Endpoint]{Text: endpointSource.Select + ` order by e.id`, Scan: scanEndpoint}
