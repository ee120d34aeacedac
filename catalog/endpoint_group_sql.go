package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

var groupTable = table[EndpointGroup]{
	name: "endpoint_group", kind: "Endpoint Group",
	insert: `insert into endpoint_group (id, name, description, filters) values ($1, $2, $3, $4)`,
	update: `update endpoint_group
set name = $2, description = $3, filters = $4
where id = $1`,
	values: func(g EndpointGroup) []any { return []any{g.ID, g.Name, g.Description, pyjson.WriteExtra(g.Filters)} },
	source: hints.Source[EndpointGroup]{
		Select:  `select g.id, g.name, g.description, g.filters from endpoint_group g`,
		Columns: map[string]hints.Column{"name": {SQL: "g.name", Max: 255}},
		ID:      "g.id",
		Scan:    scanGroup,
	},
}

func scanGroup(r db.Row) (EndpointGroup, error) {
	var g EndpointGroup
	var filters string
	err := r.Scan(&g.ID, &g.Name, &g.Description, &filters)
	g.Filters = pyjson.ReadExtra(filters)
	return g, err
}

func groupsOfProject(projectID string) db.Query[EndpointGroup] {
	return db.Query[EndpointGroup]{
		Text: groupTable.source.Select + ` join project_endpoint_group f on f.endpoint_group_id = g.id where f.project_id = $1 order by g.id`,
		Args: []any{projectID},
		Scan: scanGroup,
	}
}

func groupOf(projectID, id string) db.Query[string] {
	return idsOf(`select project_id from project_endpoint_group where project_id = $1 and endpoint_group_id = $2`, projectID, id)
}

var allEndpoints = db.Query[Endpoint]{Text: endpointTable.source.Select + ` order by e.id`, Scan: scanEndpoint}
