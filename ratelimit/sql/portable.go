package sql

import (
	"context"
	"errors"
	"strconv"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// takeLocked decides in a transaction that holds the row: what every engine
// can. A row that is not there cannot be held, so another may make it first;
// then it is there.
func (s *Store) takeLocked(ctx context.Context, r rule, id string, cost int64) (d ratelimit.Decision, err error) {
	err = s.again(func() (err error) {
		d, err = s.takeHeld(ctx, r, id, cost)
		return err
	})
	return d, err
}

// takeHeld writes nothing for a refusal or a look.
func (s *Store) takeHeld(ctx context.Context, r rule, id string, cost int64) (d ratelimit.Decision, err error) {
	err = s.client.db.Tx(ctx, func(c db.Conn) error {
		st, found, err := s.read(ctx, c, id, cost > 0)
		if err != nil {
			return err
		}
		owed, moved := int64(0), false
		if found {
			owed, moved = r.owed(st)
		}
		d = r.decide(owed, cost)
		switch {
		case cost > 0 && d.Allowed && found:
			return s.write(ctx, c, r, id, st.now, owed+cost*r.period)
		case cost > 0 && d.Allowed:
			return s.insert(ctx, c, r, id, st.now, cost*r.period)
		case cost > 0 && moved:
			return s.write(ctx, c, r, id, st.now, owed)
		}
		return nil
	})
	return d, err
}

func (s *Store) refundLocked(ctx context.Context, r rule, id string, n int64) error {
	return s.client.db.Tx(ctx, func(c db.Conn) error {
		st, found, err := s.read(ctx, c, id, true)
		if err != nil || !found {
			return err
		}
		owed, _ := r.owed(st)
		return s.write(ctx, c, r, id, st.now, max(0, owed-n*r.period))
	})
}

// read gives the row, held for a write that follows, and the database's time.
func (s *Store) read(ctx context.Context, c db.Conn, id string, hold bool) (st state, found bool, err error) {
	lock := ""
	if hold && c.Dialect() != db.SQLite { // there the transaction is the lock
		lock = " for update"
	}
	clock, args := s.client.now(c.Dialect(), 3, s.name, id)
	st, err = db.One(ctx, c, db.Query[state]{
		Text: `select ` + clock + `, last, debt, rate, period from keystone_go_rate_limit where limiter = $1 and id = $2` + lock,
		Args: args,
		Scan: func(row db.Row) (st state, err error) {
			err = row.Scan(&st.now, &st.last, &st.debt, &st.rate, &st.period)
			return st, err
		},
	})
	if !errors.Is(err, db.ErrNoRow) {
		return st, err == nil, err
	}
	clock, args = s.client.now(c.Dialect(), 1)
	st.now, err = db.One(ctx, c, db.Query[int64]{Text: `select ` + clock, Args: args, Scan: scanInt})
	return st, false, err
}

func scanInt(row db.Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// now is the text of the database's time in microseconds, and the arguments of
// its statement: a test's time is one more, the n-th.
func (c *Client) now(on db.Dialect, n int, args ...any) (text string, all []any) {
	switch {
	case c.clock != nil:
		return `cast($` + strconv.Itoa(n) + ` as bigint)`, append(args, c.clock().Microseconds())
	case on == db.SQLite:
		return `cast(unixepoch('subsec') * 1000000 as integer)`, args
	case on == db.MariaDB:
		return `cast(unix_timestamp(sysdate(6)) * 1000000 as bigint)`, args
	}
	return `cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)`, args
}

// write sets what is owed as of a time; the row is held.
func (s *Store) write(ctx context.Context, c db.Conn, r rule, id string, at, debt int64) error {
	// A reading a little before the row's counts as the row's.
	_, err := c.Exec(ctx, `update keystone_go_rate_limit
set last = case when last > $1 and last <= $2 then last else $1 end, debt = $3, rate = $4, period = $5, full_at = $6
where limiter = $7 and id = $8`,
		at, at+stepBack, debt, r.rate, r.period, at+r.micros(debt), s.name, id)
	return err
}

func (s *Store) insert(ctx context.Context, c db.Conn, r rule, id string, at, debt int64) error {
	_, err := c.Exec(ctx, `insert into keystone_go_rate_limit (limiter, id, last, debt, rate, period, full_at)
values ($1, $2, $3, $4, $5, $6, $7)`, s.name, id, at, debt, r.rate, r.period, at+r.micros(debt))
	return err
}
