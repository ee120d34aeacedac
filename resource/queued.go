package resource

import "github.com/keystone-go/keystone-go/internal/db"

// Held finds a project's id, if there is one, and keeps its row from being
// changed until the transaction is over.
func Held(d db.Dialect, id string) db.Query[string] {
	return db.Query[string]{
		Text: `select p.id from project p where p.id = $1 and p.id <> $2` + db.ForUpdate(d), Args: []any{id, RootDomainID}, Scan: scanText,
	}
}

// Records are queued reads of projects with what other tables hold of them.
type Records struct {
	rows *db.Result[Project]
	of   labels
}

// RecordsIn queues the reads of the projects whose ids a subselect gives.
func RecordsIn(b *db.Batch, ids string, args ...any) Records {
	return Records{rows: db.Add(b, ProjectsIn("", ids, args...)), of: addLabels(b, "", ids, args...)}
}

// All gives the projects by their names.
func (r Records) All() []Record { return r.of.records(r.rows.All()) }
