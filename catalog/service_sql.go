package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

var serviceTable = table[Service]{
	name: "service", kind: "service",
	insert: `insert into service (id, type, enabled, extra) values ($1, $2, $3, $4)`,
	update: `update service
set type = $2, enabled = $3, extra = $4
where id = $1`,
	values: func(s Service) []any { return []any{s.ID, s.Type, s.Enabled, pyjson.WriteExtra(s.Extra)} },
	// The name lies in extra, so that it is no column that could be asked.
	source: hints.Source[Service]{
		Select:  `select s.id, s.type, s.enabled, s.extra from service s`,
		Columns: map[string]hints.Column{"type": {SQL: "s.type", Max: 255}},
		ID:      "s.id",
		Scan:    scanService,
	},
}

func scanService(r db.Row) (Service, error) {
	var s Service
	var extra *string
	err := r.Scan(&s.ID, &s.Type, &s.Enabled, &extra)
	s.Extra = pyjson.ReadExtra(deref(extra))
	return s, err
}

// ServicesOfType reads the services of a type.
func ServicesOfType(kind string) db.Query[Service] {
	return db.Query[Service]{
		Text: serviceTable.source.Select + ` where s.type = $1 order by s.id`,
		Args: []any{kind},
		Scan: scanService,
	}
}
