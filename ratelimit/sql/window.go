package sql

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// window is a sliding window in two counts, in microseconds. Of its rows, last
// is the begin of the window that runs, rate the units taken in it, debt those
// of the window before, which count for as much of it as the last size still
// covers, and period is the size.
type window struct{ size, burst int64 }

func newWindow(q ratelimit.Quota) window {
	tick := time.Microsecond
	return window{int64((q.Window() + tick - 1) / tick), q.Burst}
}

// counts are a row's at one moment, into the window that then runs.
type counts struct{ begin, into, before, count int64 }

// counts reads a row by this window; the zero row is one that is not there. It
// tells whether the row should be written even if nothing is charged, as
// rule.owed does.
func (w window) counts(st state) (c counts, moved bool) {
	c = counts{begin: st.last, before: st.debt, count: st.rate}
	if c.begin-st.now > stepBack {
		c.begin, moved = st.now, true
	}
	at := max(st.now, c.begin)
	if c.into = at - c.begin; c.into >= st.period {
		c.before, c.count = c.count, 0
		c.begin, c.into = c.begin+st.period, c.into-st.period
		if c.into >= st.period {
			c.before = 0
		}
	}
	if c.before == 0 && c.count == 0 {
		return counts{begin: at}, false
	}
	if st.period != w.size {
		old := window{st.period, w.burst}
		c, moved = counts{begin: at, count: min(ceilDiv(old.used(c), old.size), w.burst)}, true
	}
	if w.used(c) <= w.limit() {
		return c, moved
	}
	c.count = min(c.count, w.burst)
	if over := w.used(c) - w.limit(); over > 0 {
		c.before -= min(c.before, ceilDiv(over, w.size-c.into))
	}
	return c, true
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

func (w window) limit() int64 { return w.burst * w.size }

// used is what counts against the burst, in units × size.
func (w window) used(c counts) int64 { return c.before*(w.size-c.into) + c.count*w.size }

// decide answers a charge, which is in no count yet.
func (w window) decide(c counts, cost int64) ratelimit.Decision {
	room := w.limit() - w.used(c)
	if cost*w.size > room {
		return ratelimit.Decision{Remaining: room / w.size, Retry: w.wait(c, cost), Reset: w.reset(c)}
	}
	c.count += cost
	return ratelimit.Decision{Allowed: true, Remaining: room/w.size - cost, Reset: w.reset(c)}
}

// wait is until the units before have faded enough: in the window that runs if
// those in it leave room for the cost, else in the next.
func (w window) wait(c counts, cost int64) time.Duration {
	fading, rest, wait := c.before, w.burst-cost-c.count, -c.into
	if rest < 0 {
		fading, rest, wait = c.count, w.burst-cost, w.size-c.into
	}
	return time.Duration(wait+w.size-rest*w.size/fading) * time.Microsecond
}

func (w window) reset(c counts) time.Duration {
	return time.Duration(max(0, w.full(c)-c.begin-c.into)) * time.Microsecond
}

// full is when nothing counts any more.
func (w window) full(c counts) int64 {
	switch {
	case c.count > 0:
		return c.begin + 2*w.size
	case c.before > 0:
		return c.begin + w.size
	}
	return c.begin
}

// give takes units back, the youngest first.
func (c counts) give(n int64) counts {
	young := min(n, c.count)
	c.count -= young
	c.before -= min(n-young, c.before)
	return c
}

// takeWindow decides in one statement where it can. A row of another size, of a
// clock that was stepped back, or one that others changed meanwhile, is decided
// upon while it is held.
func (s *Store) takeWindow(ctx context.Context, w window, id string, cost int64) (ratelimit.Decision, error) {
	if cost == 0 {
		st, _, err := s.read(ctx, s.client.db, id, false)
		c, _ := w.counts(st)
		return w.decide(c, 0), err
	}
	if !s.portable {
		d, sure, err := s.windowAtOnce(ctx, w, id, cost)
		if err != nil || sure {
			return d, err
		}
	}
	var d ratelimit.Decision
	err := s.again(func() error {
		return s.changeWindow(ctx, w, id, func(c counts) (counts, bool) {
			if d = w.decide(c, cost); d.Allowed {
				c.count += cost
			}
			return c, d.Allowed
		})
	})
	return d, err
}

func (s *Store) refundWindow(ctx context.Context, w window, id string, n int64) error {
	if !s.portable {
		if done, err := s.windowBack(ctx, w, id, n); err != nil || done {
			return err
		}
	}
	return s.again(func() error {
		return s.changeWindow(ctx, w, id, func(c counts) (counts, bool) {
			after := c.give(n)
			return after, after != c
		})
	})
}

// changeWindow writes what becomes of a row while it is held.
func (s *Store) changeWindow(ctx context.Context, w window, id string, change func(counts) (counts, bool)) error {
	return s.client.db.Tx(ctx, func(c db.Conn) error {
		st, found, err := s.read(ctx, c, id, true)
		if err != nil {
			return err
		}
		before, moved := w.counts(st)
		after, changed := change(before)
		if !changed && !moved {
			return nil
		}
		text := `insert into keystone_go_rate_limit (last, debt, rate, period, full_at, limiter, id) values ($1, $2, $3, $4, $5, $6, $7)`
		if found {
			text = `update keystone_go_rate_limit set last = $1, debt = $2, rate = $3, period = $4, full_at = $5 where limiter = $6 and id = $7`
		}
		_, err = c.Exec(ctx, text, after.begin, after.before, after.count, w.size, w.full(after), s.name, id)
		return err
	})
}

// again tries once more where another made the row first, which could not be
// held before it was there.
func (s *Store) again(f func() error) (err error) {
	for range 3 {
		if err = f(); !errors.Is(err, db.ErrDuplicate) {
			break
		}
	}
	return err
}

// inWindow puts what window.counts computes into a statement: r is the row, and
// excluded a fresh one, whose last is the time now. $3 is the size.
func inWindow(text string) string {
	for _, r := range [][2]string{
		{"{begin}", `case when {before} = 0 and {count} = 0 then greatest(excluded.last, {start}) when {since} < $3 then {start} else {start} + $3 end`},
		{"{into}", `case when {before} = 0 and {count} = 0 then 0 else mod({since}, $3) end`},
		{"{before}", `(case when {since} < $3 then r.debt when {since} < 2 * $3 then r.rate else 0 end)`},
		{"{count}", `(case when {since} < $3 then r.rate else 0 end)`},
		{"{since}", `greatest(0, excluded.last - {start})`},
		{"{start}", `(case when r.last - excluded.last > 10000000 then excluded.last else r.last end)`},
	} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	return text
}

// pgWindowTake charges a row of the size or makes it, unless that would be more
// than the burst $4; as pgTake.
var pgWindowTake = inWindow(`with t as (
    select {clock} as now
), charged as (
    insert into keystone_go_rate_limit as r (limiter, id, last, debt, rate, period, full_at)
    select cast($1 as varchar), cast($2 as varchar), now, 0, cast($5 as bigint), cast($3 as bigint), now + 2 * $3 from t
    on conflict (limiter, id) do update
    set last = {begin}, debt = {before}, rate = {count} + $5, full_at = {begin} + 2 * $3
    where r.period = $3 and {before} * ($3 - {into}) + ({count} + $5) * $3 <= cast($4 as bigint) * $3
    returning r.last, r.debt, r.rate, r.period
)
select 1, now, last, debt, rate, period from t, charged
union all
select 0, now, r.last, r.debt, r.rate, r.period from t, keystone_go_rate_limit r
where r.limiter = $1 and r.id = $2 and not exists (select 1 from charged)`)

// pgWindowBack gives $4 units back to a row of the size, the youngest first.
var pgWindowBack = inWindow(`update keystone_go_rate_limit as r
set last = {begin}, debt = {before} - least({before}, $4 - least($4, {count})), rate = {count} - least($4, {count})
from (select {clock} as last, cast($3 as bigint) as size, cast($4 as bigint) as units) as excluded
where r.limiter = $1 and r.id = $2 and r.period = $3`)

// windowAtOnce is not sure where the row was not what the statement can decide.
func (s *Store) windowAtOnce(ctx context.Context, w window, id string, cost int64) (d ratelimit.Decision, sure bool, err error) {
	clock, args := s.client.now(db.Postgres, 6, s.name, id, w.size, w.burst, cost)
	found, err := db.All(ctx, s.client.db, db.Query[answer]{
		Text: strings.Replace(pgWindowTake, "{clock}", clock, 1), Args: args,
		Scan: func(row db.Row) (a answer, err error) {
			err = row.Scan(&a.charged, &a.now, &a.last, &a.debt, &a.rate, &a.period)
			return a, err
		},
	})
	if err != nil || len(found) == 0 {
		return d, false, err
	}
	c, moved := w.counts(found[0].state)
	if found[0].charged == 1 {
		return w.decide(c, 0), true, nil
	}
	d = w.decide(c, cost)
	return d, !moved && !d.Allowed, nil
}

func (s *Store) windowBack(ctx context.Context, w window, id string, n int64) (done bool, err error) {
	clock, args := s.client.now(db.Postgres, 5, s.name, id, w.size, n)
	rows, err := s.client.db.Exec(ctx, strings.Replace(pgWindowBack, "{clock}", clock, 1), args...)
	return rows > 0, err
}
