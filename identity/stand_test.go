package identity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// noon is when the tests begin: a time with microseconds.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)

// plain is a hasher whose work can be read in the database.
type plain struct {
	max      int // bytes; 0: none is too long
	verified int
}

func (p *plain) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (p *plain) Verify(_ context.Context, stored, password string) (bool, error) {
	p.verified++
	return stored == "plain:"+password, nil
}

func (p *plain) CheckLength(password string) error {
	if p.max > 0 && len(password) > p.max {
		return fault.New(fault.Forbidden, "too long")
	}
	return nil
}

// stand is a database with domain "d" in it, its users, and a clock.
type stand struct {
	*testing.T
	db    db.DB
	users identity.Users
	hash  *plain
	clock time.Time
	ids   int
}

func each(t *testing.T, f func(s *stand)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		s := &stand{T: t, db: d, hash: &plain{}, clock: noon}
		now := func() time.Time { return s.clock }
		s.users = identity.Users{
			DB: d, Hasher: s.hash, Now: now,
			Revoker: cascade.Revoker{Keep: 90 * time.Minute, Now: now},
			NewID:   func() string { s.ids++; return fmt.Sprintf("%032x", s.ids) },
		}
		s.domain("d", "Dom", true)
		f(s)
	})
}

func (s *stand) domain(id, name string, enabled bool) {
	s.Helper()
	s.must(resource.CreateDomain(s.Context(), s.db, resource.Domain{ID: id, Name: name, Enabled: enabled}))
}

func (s *stand) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stand) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), text, args...); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// count is the first column of the first row.
func (s *stand) count(text string, args ...any) int64 {
	s.Helper()
	return one[int64](s, text, args...)
}

func one[T any](s *stand, text string, args ...any) T {
	s.Helper()
	v, err := db.One(s.Context(), s.db, db.Query[T]{Text: text, Args: args, Scan: func(r db.Row) (v T, err error) {
		err = r.Scan(&v)
		return v, err
	}})
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	return v
}

// events gives the users of the revocation events, in order.
func (s *stand) events() []string {
	s.Helper()
	list, err := db.All(s.Context(), s.db, db.Query[string]{
		Text: `select user_id from revocation_event order by id`,
		Scan: func(r db.Row) (v string, err error) { err = r.Scan(&v); return v, err },
	})
	s.must(err)
	return list
}

// create makes a user of domain "d"; his name is also his password.
func (s *stand) create(name string) identity.View {
	s.Helper()
	v, err := s.users.Create(s.Context(), "d", identity.Change{Name: &name, Password: ptr(&name)})
	s.must(err)
	return v
}

// update changes the user as he is now.
func (s *stand) update(id string, ch identity.Change) identity.View {
	s.Helper()
	v, err := s.users.Update(s.Context(), s.get(id), ch)
	s.must(err)
	return v
}

func (s *stand) get(id string) identity.View {
	s.Helper()
	v, err := s.users.Get(s.Context(), id)
	s.must(err)
	return v
}

// account reads a user and fails without one.
func (s *stand) account(q db.Query[identity.Account]) identity.Account {
	s.Helper()
	a, err := db.One(s.Context(), s.db, q)
	s.must(err)
	return a
}

func ptr[T any](v T) *T { return &v }

// passwordRow is a row of the password table as it stands.
type passwordRow struct {
	Hash        *string
	Created     time.Time
	CreatedInt  int64
	Expires     *time.Time
	ExpiresInt  *int64
	SelfService bool
}

// passwords gives the rows of a user, oldest first.
// kept is what is read again of a password. One whose row has no times as
// numbers has those of its other columns.
func (s *stand) kept(id string, p identity.Password) identity.Password {
	if id != "legacy" {
		return p
	}
	p.CreatedAt = dbtest.Kept(s.db, p.CreatedAt)
	if p.ExpiresAt != nil {
		p.ExpiresAt = ptr(dbtest.Kept(s.db, *p.ExpiresAt))
	}
	return p
}

func (s *stand) passwords(userID string) []passwordRow {
	s.Helper()
	rows, err := db.All(s.Context(), s.db, db.Query[passwordRow]{
		Text: `select p.password_hash, p.created_at, p.created_at_int, p.expires_at, p.expires_at_int, p.self_service
from password p join local_user l on l.id = p.local_user_id where l.user_id = $1 order by p.created_at_int, p.id`,
		Args: []any{userID},
		Scan: func(r db.Row) (p passwordRow, err error) {
			err = r.Scan(&p.Hash, &p.Created, &p.CreatedInt, &p.Expires, &p.ExpiresInt, &p.SelfService)
			return p, err
		},
	})
	s.must(err)
	return rows
}

// hashes joins the readable hashes of a user, oldest first.
func (s *stand) hashes(userID string) string {
	s.Helper()
	var out []string
	for _, p := range s.passwords(userID) {
		if p.Hash == nil {
			out = append(out, "null")
			continue
		}
		out = append(out, strings.TrimPrefix(*p.Hash, "plain:"))
	}
	return strings.Join(out, " ")
}

// message gives kind and text of a fault.
func message(err error) string {
	if err == nil {
		return ""
	}
	for _, kind := range []fault.Kind{400, 401, 403, 404, 409} {
		if fault.Is(err, kind) {
			return fmt.Sprintf("%d %s", kind, err)
		}
	}
	return err.Error()
}
