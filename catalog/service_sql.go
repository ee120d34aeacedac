package catalog

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
)

const serviceCols = `s.id, s.type, s.enabled, s.extra`

const (
	insertService = `insert into service (id, type, enabled, extra) values ($1, $2, $3, $4)`
	updateService = `update service
set type = $2, enabled = $3, extra = $4
where id = $1`
)

// The name lies in extra, so that it is no column that could be asked.
var serviceSource = hints.Source[Service]{
	Select:  `select ` + serviceCols + ` from service s`,
	Columns: map[string]hints.Column{"type": {SQL: "s.type", Max: 255}},
	ID:      "s.id",
	Scan:    scanService,
}

func scanService(r db.Row) (Service, error) {
	var s Service
	var extra *string
	err := r.Scan(&s.ID, &s.Type, &s.Enabled, &extra)
	s.Extra = readExtra(deref(extra))
	return s, err
}

// ServiceByID reads one service.
func ServiceByID(id string) db.Query[Service] {
	return db.Query[Service]{
		Text: `select ` + serviceCols + ` from service s where s.id = $1`,
		Args: []any{id},
		Scan: scanService,
	}
}

// ServicesOfType reads the services of a type.
func ServicesOfType(kind string) db.Query[Service] {
	return db.Query[Service]{
		Text: `select ` + serviceCols + ` from service s where s.type = $1 order by s.id`,
		Args: []any{kind},
		Scan: scanService,
	}
}
