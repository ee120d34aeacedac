package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// ResetLastActive counts every user who was never seen as seen on the day of
// now, and gives how many they were: the days that
// disable_user_account_days_inactive counts begin anew for them.
func ResetLastActive(ctx context.Context, c db.Conn, now time.Time) (int64, error) {
	n, err := c.Exec(ctx, `update "user" set last_active_at = $1 where last_active_at is null`, db.Date(now.UTC()))
	if err != nil {
		return 0, fmt.Errorf("reset the last activity: %w", err)
	}
	return n, nil
}

// MappingFilter picks rows of id_mapping; an empty field picks any.
type MappingFilter struct{ DomainID, PublicID, LocalID, Type string }

// PurgeMappings deletes the ids that stand for users and groups of another
// source, and gives how many they were; they are made again, and are the same
// again, when the source shows them.
func PurgeMappings(ctx context.Context, c db.Conn, f MappingFilter) (int64, error) {
	var w db.Where
	for _, x := range []struct{ column, value string }{
		{"domain_id", f.DomainID}, {"public_id", f.PublicID}, {"local_id", f.LocalID}, {"entity_type", f.Type},
	} {
		if x.value != "" {
			w.And(x.column+` = ?`, x.value)
		}
	}
	n, err := c.Exec(ctx, `delete from id_mapping`+w.String(), w.Args...)
	if err != nil {
		return 0, fmt.Errorf("purge id mappings: %w", err)
	}
	return n, nil
}

// manyPasswords is from where on a search of the whole table shows at a login.
const manyPasswords = 10_000

// UnindexedPasswords gives the number of rows, roughly, where the password table
// of a Postgres is large and has no index by user, and else 0. Python's schema
// has none: each login goes through all of it. (SQLite's planner makes one for
// the query.)
func UnindexedPasswords(ctx context.Context, c db.Conn) (int64, error) {
	if c.Dialect() != db.Postgres {
		return 0, nil
	}
	n, err := db.One(ctx, c, db.Query[int64]{
		Text: `select cast(t.reltuples as bigint)
from pg_class t
where t.oid = to_regclass('password')
  and not exists (
    select 1
    from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = t.oid and a.attname = 'local_user_id')`,
		Scan: func(r db.Row) (int64, error) {
			var n int64
			err := r.Scan(&n)
			return n, err
		},
	})
	if errors.Is(err, db.ErrNoRow) || err == nil && n < manyPasswords {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for the index of passwords: %w", err)
	}
	return n, nil
}

// Argon2Hashes counts the passwords that Python Keystone cannot verify.
func Argon2Hashes(ctx context.Context, c db.Conn) (int64, error) {
	n, err := db.One(ctx, c, db.Query[int64]{
		Text: `select count(*) from password where password_hash like $1`,
		Args: []any{"$argon2%"},
		Scan: func(r db.Row) (int64, error) {
			var n int64
			err := r.Scan(&n)
			return n, err
		},
	})
	if err != nil {
		return 0, fmt.Errorf("count argon2 hashes: %w", err)
	}
	return n, nil
}
