package identity

import (
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

func userSource(f UserFilter) hints.Source[Account] {
	return hints.Source[Account]{
		Select: listText, Where: f.where, Columns: userColumns, ID: "u.id", Paged: f.GroupID == "", Scan: scanListed,
	}
}

// userIDs is the same list, of ids alone.
func userIDs(f UserFilter) hints.Source[string] {
	return hints.Source[string]{
		Select: `select u.id from "user" u left join local_user l on l.user_id = u.id`,
		Where:  f.where, Columns: userColumns, ID: "u.id", Paged: f.GroupID == "", Scan: db.ScanText,
	}
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

func scanListed(r db.Row) (Account, error) {
	var a Account
	var enabled *bool
	var project, extra, name *string
	var localID *int64
	err := r.Scan(&a.ID, &a.DomainID, &enabled, &project, &extra, &a.CreatedAt, &a.LastActiveAt, &localID, &name)
	a.Enabled, a.LocalID = isTrue(enabled), deref(localID)
	a.DefaultProjectID, a.Extra, a.Name = deref(project), deref(extra), deref(name)
	return a, err
}

// scanExpiry reads what a list tells of a password: whose it is, and its end.
func scanExpiry(r db.Row) (Account, error) {
	var a Account
	var created, expiresInt *int64
	var expires *time.Time
	err := r.Scan(&a.ID, &created, &expiresInt, &expires)
	a.Password = Password{ExpiresAt: moment(expiresInt, expires)}
	return a, err
}
