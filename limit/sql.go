package limit

import (
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
)

const (
	registeredCols = `r.id, r.service_id, r.region_id, r.resource_name, r.default_limit, r.description`
	insertLimit    = `insert into "limit" (id, project_id, domain_id, resource_limit, description, registered_limit_id) values ($1, $2, $3, $4, $5, $6)`
	insertReg      = `insert into registered_limit (id, service_id, region_id, resource_name, default_limit, description) values ($1, $2, $3, $4, $5, $6)`

	// longestRegion is the column's length in characters, which is less than that
	// of a region's id.
	longestRegion = 64

	// ownerOf is the project or domain of a limit.
	ownerOf = `select coalesce(l.project_id, l.domain_id) from "limit" l where l.id = $1`
)

// resourceColumns answer the filters by what a limit is of.
var resourceColumns = map[string]hints.Column{
	"service_id": {SQL: "r.service_id", Max: 255}, "region_id": {SQL: "r.region_id", Max: longestRegion}, "resource_name": {SQL: "r.resource_name", Max: 255},
}

var registeredSource = hints.Source[Registered]{
	Select:  `select ` + registeredCols + ` from registered_limit r`,
	Columns: resourceColumns,
	ID:      "r.id",
	Scan:    scanRegistered,
}

var limitSource = hints.Source[Limit]{
	Select: `select l.id, l.project_id, l.domain_id, l.resource_limit, l.description, l.registered_limit_id, r.service_id, r.region_id, r.resource_name
from "limit" l left join registered_limit r on r.id = l.registered_limit_id`,
	Columns: withOwners(resourceColumns),
	ID:      "l.id",
	Scan:    scanLimit,
}

func withOwners(columns map[string]hints.Column) map[string]hints.Column {
	out := map[string]hints.Column{"project_id": {SQL: "l.project_id", Max: 64}, "domain_id": {SQL: "l.domain_id", Max: 64}}
	for name, c := range columns {
		out[name] = c
	}
	return out
}

// where keeps what the viewer may see.
func (v Viewer) where(w *db.Where) {
	switch {
	case v.All:
	case v.DomainID != "":
		w.And(`(l.domain_id = ? or l.project_id in (select p.id from project p where p.domain_id = ?))`, v.DomainID, v.DomainID)
	case v.ProjectID != "":
		w.And(`l.project_id = ?`, v.ProjectID)
	default:
		w.And(`l.id is null`)
	}
}

func limitsWhere(w db.Where) db.Query[Limit] {
	return db.Query[Limit]{Text: limitSource.Select + w.String() + ` order by l.id`, Args: w.Args, Scan: scanLimit}
}

// limitsOf reads the limits of some owners for some registered limits.
func limitsOf(column string, owners, registered []string) db.Query[Limit] {
	var w db.Where
	w.AndIn(column, owners)
	w.AndIn(`l.registered_limit_id`, registered)
	return limitsWhere(w)
}

func limitByID(id string) db.Query[Limit] {
	var w db.Where
	w.And(`l.id = ?`, id)
	return limitsWhere(w)
}

func scanLimit(r db.Row) (Limit, error) {
	var l Limit
	var project, domain, registered, service, region, name *string
	err := r.Scan(&l.ID, &project, &domain, &l.Value, &l.Description, &registered, &service, &region, &name)
	l.ProjectID, l.DomainID, l.registered = deref(project), deref(domain), deref(registered)
	l.Resource = Resource{deref(service), deref(region), deref(name)}
	return l, err
}

func scanRegistered(r db.Row) (Registered, error) {
	var out Registered
	var service, region, name *string
	err := r.Scan(&out.ID, &service, &region, &name, &out.Default, &out.Description)
	out.Resource = Resource{deref(service), deref(region), deref(name)}
	return out, err
}

// registeredBy reads the registered limits that a condition finds, and keeps
// them until the transaction is over.
func registeredBy(d db.Dialect, w db.Where) db.Query[Registered] {
	return db.Query[Registered]{Text: registeredSource.Select + w.String() + ` order by r.id` + db.ForUpdate(d), Args: w.Args, Scan: scanRegistered}
}

func registeredByID(d db.Dialect, id string) db.Query[Registered] {
	var w db.Where
	w.And(`r.id = ?`, id)
	return registeredBy(d, w)
}

// registeredOf is that of a limit.
func registeredOf(d db.Dialect, limitID string) db.Query[Registered] {
	var w db.Where
	w.And(`r.id = (select l.registered_limit_id from "limit" l where l.id = ?)`, limitID)
	return registeredBy(d, w)
}

// is finds the registered limit of a resource.
func (r Resource) is(w *db.Where) {
	w.And(`r.service_id = ? and r.resource_name = ?`, r.ServiceID, r.Name)
	if r.RegionID == "" {
		w.And(`r.region_id is null`)
	} else {
		w.And(`r.region_id = ?`, r.RegionID)
	}
}

// someLimit reads the id of a limit that is for a registered one, if there is
// any.
func someLimit(registeredID string) db.Query[string] {
	return idsOf(`select l.id from "limit" l where l.registered_limit_id = $1 limit 1`, registeredID)
}

// branch is a limit of a project below a domain.
type branch struct {
	domainID, registered string
	value                int64
}

// limitsBelow reads the limits of all projects below some domains, each project
// once, circle or not.
func limitsBelow(domains, registered []string) db.Query[branch] {
	var w db.Where
	w.AndIn(`p.parent_id`, domains)
	top := w.String()
	rest := db.Where{Args: w.Args}
	rest.AndIn(`l.registered_limit_id`, registered)
	return db.Query[branch]{
		Text: `with recursive below (id, top) as (
	select p.id, p.parent_id from project p` + top + `
	union
	select p.id, b.top from project p join below b on p.parent_id = b.id
)
select b.top, l.registered_limit_id, l.resource_limit from below b join "limit" l on l.project_id = b.id` + rest.String(),
		Args: rest.Args,
		Scan: func(r db.Row) (b branch, err error) {
			err = r.Scan(&b.domainID, &b.registered, &b.value)
			return b, err
		},
	}
}

// idsOf reads a column of identifiers.
func idsOf(text string, args ...any) db.Query[string] {
	return db.Query[string]{Text: text, Args: args, Scan: db.ScanText}
}

// idsIn finds which of the ids a table has.
func idsIn(table, end string, ids []string) db.Query[string] {
	var w db.Where
	w.AndIn("id", ids)
	return idsOf(`select id from `+table+w.String()+` order by id`+end, w.Args...)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// null is a column's value for what may be "".
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
