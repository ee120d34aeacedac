// Package identity holds users, groups, passwords and their options
// (keystone/identity).
package identity

import (
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/resource"
)

// Account is a user with everything that a login or a validation asks of him,
// read in one statement.
type Account struct {
	ID, Name, DomainID string
	Enabled            bool // the stored flag; see Active
	DefaultProjectID   string
	Extra              string
	CreatedAt          *time.Time
	LastActiveAt       *time.Time
	IgnoreInactivity   bool
	Domain             resource.Domain // its ID is empty when the domain is gone

	// The local half: zero for users of other sources.
	LocalID         int64
	FailedAuthCount int
	FailedAuthAt    *time.Time
	Password        Password // the current one; its ID is 0 when there is none
}

// Password is a row of the password table; times are naive UTC.
type Password struct {
	ID          int64
	Hash        string // "" when the row holds none
	CreatedAt   time.Time
	ExpiresAt   *time.Time // nil: never
	SelfService bool
}

// Expired tells whether the password may no longer be used at t.
func (p Password) Expired(t time.Time) bool {
	return p.ExpiresAt != nil && !t.Before(*p.ExpiresAt)
}

// Active tells whether the user may log in at t: enabled, and not idle for
// the given number of days (nil: idleness does not matter).
func (a Account) Active(t time.Time, idleDays *int) bool {
	if !a.Enabled || idleDays == nil || a.IgnoreInactivity {
		return a.Enabled
	}
	last := a.LastActiveAt
	if last == nil {
		last = a.CreatedAt
	}
	if last == nil {
		return true
	}
	return int(day(t).Sub(day(*last)).Hours()/24) < *idleDays
}

func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// The name of a user is the local one, else the one of another source, of
// several the oldest (keystone/identity/backends/sql_model.py User.name). Every
// password of a user gives a row, the current one first: the table has no index
// by user, so it is gone through once and no more.
const accountText = `select u.id, u.domain_id, u.enabled, u.default_project_id, u.extra, u.created_at, u.last_active_at,
  l.id, coalesce(l.name, (select n.name from nonlocal_user n where n.user_id = u.id), (select f.display_name from federated_user f where f.user_id = u.id order by f.id limit 1)),
  l.failed_auth_count, l.failed_auth_at,
  p.id, p.password_hash, p.created_at, p.created_at_int, p.expires_at, p.expires_at_int, p.self_service,
  (select o.option_value from user_option o where o.user_id = u.id and o.option_id = '1004'),
  d.id, d.name, d.enabled
from "user" u
left join local_user l on l.user_id = u.id
left join password p on p.local_user_id = l.id
left join project d on d.id = u.domain_id`

const currentFirst = ` order by p.created_at_int desc, p.id desc`

func scanAccount(r db.Row) (Account, error) {
	var a Account
	var enabled, selfService, domainEnabled *bool
	var project, extra, name, hash, idle, domainID, domainName *string
	var localID, count, passwordID, createdInt, expiresInt *int64
	var created, expires *time.Time
	err := r.Scan(&a.ID, &a.DomainID, &enabled, &project, &extra, &a.CreatedAt, &a.LastActiveAt,
		&localID, &name, &count, &a.FailedAuthAt,
		&passwordID, &hash, &created, &createdInt, &expires, &expiresInt, &selfService,
		&idle, &domainID, &domainName, &domainEnabled)
	a.Enabled = isTrue(enabled)
	a.DefaultProjectID, a.Extra, a.Name = deref(project), deref(extra), deref(name)
	a.LocalID, a.FailedAuthCount = deref(localID), int(deref(count))
	a.IgnoreInactivity = deref(idle) == "true"
	a.Domain = resource.Domain{ID: deref(domainID), Name: deref(domainName), Enabled: isTrue(domainEnabled)}
	a.Password = Password{ID: deref(passwordID), Hash: deref(hash), SelfService: isTrue(selfService)}
	a.Password.CreatedAt = deref(moment(createdInt, created))
	a.Password.ExpiresAt = moment(expiresInt, expires)
	return a, err
}

// moment picks the whole-microsecond column before its older twin
// (keystone/identity/backends/sql_model.py Password.created_at).
func moment(micros *int64, at *time.Time) *time.Time {
	if micros == nil || *micros == 0 {
		return at
	}
	t := time.UnixMicro(*micros).UTC()
	return &t
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func isTrue(b *bool) bool { return b != nil && *b }

// AccountByID reads a user of any source by id.
func AccountByID(id string) db.Query[Account] {
	return db.Query[Account]{Text: accountText + ` where u.id = $1` + currentFirst, Args: []any{id}, Scan: scanAccount}
}

// OwnersByID reads the owners of tokens, one or two users, as far as tokens
// need them: without the hash of a password. Of the rows with a user's id the
// one with the newest password counts, which NewestOf finds.
func OwnersByID(ids []string) db.Query[Account] {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return db.Query[Account]{Text: ownerText + ` where u.id in ` + db.In(len(ids), 1), Args: args, Scan: scanOwner}
}

const ownerText = `select u.id, u.domain_id, u.enabled, u.default_project_id, u.created_at, u.last_active_at,
  coalesce(l.name, (select n.name from nonlocal_user n where n.user_id = u.id), (select f.display_name from federated_user f where f.user_id = u.id order by f.id limit 1)),
  p.id, p.created_at_int, p.expires_at, p.expires_at_int,
  (select o.option_value from user_option o where o.user_id = u.id and o.option_id = '1004'),
  d.id, d.name, d.enabled
from "user" u
left join local_user l on l.user_id = u.id
left join password p on p.local_user_id = l.id
left join project d on d.id = u.domain_id`

func scanOwner(r db.Row) (Account, error) {
	var a Account
	var enabled, domainEnabled *bool
	var project, name, idle, domainID, domainName *string
	var passwordID, createdInt, expiresInt *int64
	var expires *time.Time
	err := r.Scan(&a.ID, &a.DomainID, &enabled, &project, &a.CreatedAt, &a.LastActiveAt, &name,
		&passwordID, &createdInt, &expires, &expiresInt, &idle, &domainID, &domainName, &domainEnabled)
	a.Enabled, a.DefaultProjectID, a.Name = isTrue(enabled), deref(project), deref(name)
	a.IgnoreInactivity = deref(idle) == "true"
	a.Domain = resource.Domain{ID: deref(domainID), Name: deref(domainName), Enabled: isTrue(domainEnabled)}
	a.Password = Password{ID: deref(passwordID), CreatedAt: deref(moment(createdInt, nil)), ExpiresAt: moment(expiresInt, expires)}
	return a, err
}

// NewestOf finds a user among rows of OwnersByID.
func NewestOf(rows []Account, id string) (Account, bool) {
	var found Account
	ok := false
	for _, a := range rows {
		if a.ID == id && (!ok || newer(a.Password, found.Password)) {
			found, ok = a, true
		}
	}
	return found, ok
}

func newer(a, b Password) bool {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c > 0
	}
	return a.ID > b.ID
}

// AccountByName reads a local user by name in the domain of the given id.
func AccountByName(name, domainID string) db.Query[Account] {
	return db.Query[Account]{Text: accountText + ` where l.name = $1 and l.domain_id = $2` + currentFirst, Args: []any{name, domainID}, Scan: scanAccount}
}

// AccountByNames reads a local user by his name and his domain's name.
func AccountByNames(name, domainName string) db.Query[Account] {
	return db.Query[Account]{
		Text: accountText + ` where l.name = $1 and d.name = $2 and d.domain_id = $3` + currentFirst,
		Args: []any{name, domainName, resource.RootDomainID},
		Scan: scanAccount,
	}
}
