package resource

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
)

var projectColumns = map[string]hints.Column{
	"domain_id": {SQL: "p.domain_id", Max: 64},
	"parent_id": {SQL: "p.parent_id", Max: 64},
	"name":      {SQL: "p.name", Max: 64},
	"enabled":   {SQL: "p.enabled", Bool: true},
	"is_domain": {SQL: "p.is_domain", Bool: true},
}

func projectSource(f Filter) hints.Source[Project] {
	return hints.Source[Project]{
		Select:  `select ` + projectCols + projectFrom,
		Where:   f.where,
		Columns: projectColumns,
		ID:      "p.id",
		Paged:   true,
		Scan:    scanProject,
	}
}

// idSource is the same list, of ids alone.
func idSource(f Filter) hints.Source[string] {
	return hints.Source[string]{
		Select: `select p.id from project p`, Where: f.where, Columns: projectColumns, ID: "p.id", Paged: true, Scan: db.ScanText,
	}
}

func (f Filter) where(w *db.Where) {
	w.And(`p.id <> ?`, RootDomainID)
	switch {
	case f.Domains:
		w.And(`p.is_domain = ?`, true)
		if f.DomainID != "" {
			w.And(`p.id = ?`, f.DomainID)
		}
	case f.DomainID != "":
		w.And(`p.domain_id = ?`, f.DomainID)
	}
	f.Tags.where(w)
}

// TagFilter asks for tags, each list as `?tags=a,b` has it; nil asks nothing.
type TagFilter struct{ All, Any, NotAll, NotAny []string }

const hasTag = `exists (select 1 from project_tag t where t.project_id = p.id and t.name = ?)`

func (f TagFilter) where(w *db.Where) {
	for _, name := range f.All {
		w.And(hasTag, name)
	}
	if f.Any != nil {
		anyOf(w, `p.id in `, f.Any)
	}
	if f.NotAll != nil {
		var all db.Where
		all.Args = w.Args
		for _, name := range f.NotAll {
			all.And(hasTag, name)
		}
		w.Args = all.Args
		w.And(`not (` + all.Conditions() + `)`)
	}
	if f.NotAny != nil {
		anyOf(w, `p.id not in `, f.NotAny)
	}
}

func anyOf(w *db.Where, in string, names []string) {
	var tags db.Where
	tags.Args = w.Args
	tags.AndIn("t.name", names)
	w.Args = tags.Args
	w.And(in + `(select t.project_id from project_tag t` + tags.String() + `)`)
}

// known finds a row by its id, if there is one that may be seen.
func known(id string) db.Query[int64] {
	return db.Query[int64]{
		Text: `select count(*) from project p where p.id = $1 and p.id <> $2 having count(*) > 0`,
		Args: []any{id, RootDomainID},
		Scan: func(r db.Row) (n int64, err error) {
			err = r.Scan(&n)
			return n, err
		},
	}
}

// above finds the projects above one, up to its domain, in no order; circle or
// not, each is found once.
const above = `with recursive up(id, parent_id) as (
  select p.id, p.parent_id from project p where p.id = $1
  union
  select q.id, q.parent_id from project q join up u on q.id = u.parent_id
)
`

const aboveIDs = `select u.id from up u where u.id <> $1`

// below finds the projects below one, in no order.
const below = `with recursive down(id) as (
  select p.id from project p where p.parent_id = $1
  union
  select q.id from project q join down d on q.parent_id = d.id
)
`

const belowIDs = `select d.id from down d where d.id <> $1`
