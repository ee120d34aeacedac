package resource

import "github.com/keystone-go/keystone-go/internal/db"

// Held finds a project's id, if there is one, and keeps its row from being
// changed until the transaction is over.
func Held(d db.Dialect, id string) db.Query[string] {
	return db.Query[string]{
		Text: `select p.id from project p where p.id = $1 and p.id <> $2` + db.ForUpdate(d), Args: []any{id, RootDomainID}, Scan: db.ScanText,
	}
}

// DomainKept is DomainByID, and keeps the domain from being deleted until the
// transaction is over.
func DomainKept(d db.Dialect, id string) db.Query[Domain] {
	q := DomainByID(id)
	q.Text += db.ForShare(d)
	return q
}

// Records are queued reads of projects, and of domains, which are projects
// too, with what other tables hold of them.
type Records struct {
	rows          *db.Result[Project]
	tags, options *db.Result[Label]
}

// RecordsIn queues the reads of the projects whose ids a subselect gives, by
// their names. with stands before the statements (a common table expression,
// or nothing).
func RecordsIn(b *db.Batch, with, ids string, args ...any) Records {
	return queued(b, ProjectsIn(with, ids, args...), with, ids, args...)
}

// queued is RecordsIn for rows that another statement gives.
func queued(b *db.Batch, rows db.Query[Project], with, ids string, args ...any) Records {
	return Records{db.Add(b, rows), db.Add(b, TagsIn(with, ids, args...)), db.Add(b, OptionsIn(with, ids, args...))}
}

// All gives the projects that were read.
func (r Records) All() []Record { return r.of(r.rows.All()) }

// of puts each of these projects together with what was read of it.
func (r Records) of(rows []Project) []Record {
	tags, options := ByOwner(r.tags.All()), ByOwner(r.options.All())
	out := make([]Record, len(rows))
	for i, p := range rows {
		out[i] = Record{Project: p, Tags: tags[p.ID], Options: options[p.ID]}
	}
	return out
}
