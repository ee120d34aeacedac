package identity

import (
	"cmp"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
)

const listText = `select u.id, u.domain_id, u.enabled, u.default_project_id, u.extra, u.created_at, u.last_active_at,
  l.id, coalesce(l.name, (select n.name from nonlocal_user n where n.user_id = u.id), (select f.display_name from federated_user f where f.user_id = u.id order by f.id limit 1))
from "user" u
left join local_user l on l.user_id = u.id`

var userColumns = map[string]hints.Column{
	"domain_id": {SQL: "u.domain_id", Max: 64},
	"enabled":   {SQL: "u.enabled", Bool: true},
	// A federated user has a name for show.
	"name": {SQL: "coalesce(l.name, (select f.display_name from federated_user f where f.user_id = u.id order by f.id limit 1))", Max: 255},
}

func userSource(f UserFilter) hints.Source[Listed] {
	return hints.Source[Listed]{
		Select: listText, Where: f.where, Columns: userColumns, ID: "u.id", Paged: f.GroupID == "", Scan: scanListed,
	}
}

// among is a subselect of the same list, of one column alone. A limit in the
// list of an `in` has to stand one level deeper.
func (f UserFilter) among(h hints.Hints, column string) (string, []any) {
	q, _ := hints.Source[string]{
		Select: `select ` + column + ` as id from "user" u left join local_user l on l.user_id = u.id`,
		Where:  f.where, Columns: userColumns, ID: "u.id", Paged: f.GroupID == "",
	}.Query(h)
	return `(select x.id from (` + q.Text + `) x)`, q.Args
}

func (f UserFilter) where(w *db.Where) {
	if f.DomainID != "" {
		w.And(`u.domain_id = ?`, f.DomainID)
	}
	if f.GroupID != "" {
		w.And(`u.id in (select m.user_id from user_group_membership m where m.group_id = ?)`, f.GroupID)
	}
	for _, column := range []string{"idp_id", "protocol_id", "unique_id"} {
		if v, asked := f.Federated[column]; asked {
			w.And(`exists (select 1 from federated_user f where f.user_id = u.id and f.`+column+` = ?)`, v)
		}
	}
	for _, e := range f.PasswordExpires {
		w.And(`l.id in (select p.local_user_id from password p where p.expires_at `+e.Op+` ?)`, e.At)
	}
}

func scanListed(r db.Row) (Listed, error) {
	var l Listed
	var enabled *bool
	var project, extra, name *string
	var localID *int64
	err := r.Scan(&l.id, &l.domainID, &enabled, &project, &extra, &l.created, &l.seen, &localID, &name)
	l.enabled, l.localID = isTrue(enabled), deref(localID)
	l.project, l.extra, l.name = deref(project), deref(extra), deref(name)
	return l, err
}

// expiry is what a list tells of a password: whose it is, and its end.
type expiry struct {
	localID, id, created int64
	expires              *time.Time
}

// newer orders the passwords of one user: the current one is the newest.
func (e expiry) newer(than expiry) bool {
	return cmp.Or(cmp.Compare(e.created, than.created), cmp.Compare(e.id, than.id)) > 0
}

func scanExpiry(r db.Row) (expiry, error) {
	var e expiry
	var micros *int64
	var at *time.Time
	err := r.Scan(&e.localID, &e.id, &e.created, &micros, &at)
	e.expires = moment(micros, at)
	return e, err
}
