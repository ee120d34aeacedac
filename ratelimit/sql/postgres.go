package sql

import (
	"context"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// What Postgres computes of a row, as rule.owed and state.reading do. In it r is
// the row, excluded what a fresh one would be: its last is the time now.
const (
	pgAt = `case when r.last - excluded.last > 10000000 then excluded.last else greatest(r.last, excluded.last) end`

	pgDrained = `case when excluded.last <= r.last then r.debt when excluded.last - r.last > r.debt / r.rate then 0 ` +
		`else r.debt - (excluded.last - r.last) * r.rate end`

	// Rounded up, and beyond 64 bits only while it is multiplied.
	pgOwed = `least(cast($5 as bigint), case when r.period = excluded.period then ` + pgDrained + ` else cast(div(cast(` +
		pgDrained + ` as numeric) * excluded.period + r.period - 1, r.period) as bigint) end)`
)

// pgTake charges a row or makes it, unless that would be more than the quota.
// Then it changes nothing and answers with the row as it was when the statement
// began; of those that wait for the row at once, each is decided by what the one
// before has written.
var pgTake = strings.NewReplacer("{at}", pgAt, "{owed}", pgOwed).Replace(`with t as (
    select {clock} as now
), charged as (
    insert into keystone_go_rate_limit as r (limiter, id, last, debt, rate, period, full_at)
    select cast($1 as varchar), cast($2 as varchar), now, cast($6 as bigint), cast($3 as bigint), cast($4 as bigint),
        now + (cast($6 as bigint) + $3 - 1) / $3 from t
    on conflict (limiter, id) do update
    set last = {at}, debt = {owed} + excluded.debt, rate = excluded.rate, period = excluded.period,
        full_at = {at} + ({owed} + excluded.debt + excluded.rate - 1) / excluded.rate
    where excluded.debt <= $5 - {owed}
    returning r.last, r.debt, r.rate, r.period
)
select 1, now, last, debt, rate, period from t, charged
union all
select 0, now, r.last, r.debt, r.rate, r.period from t, keystone_go_rate_limit r
where r.limiter = $1 and r.id = $2 and not exists (select 1 from charged)`)

// pgRefund gives back what $6 says.
var pgRefund = strings.NewReplacer("{at}", pgAt, "{left}", `greatest(0, `+pgOwed+` - cast($6 as bigint))`).Replace(`update keystone_go_rate_limit as r
set last = {at}, debt = {left}, rate = excluded.rate, period = excluded.period,
    full_at = {at} + ({left} + excluded.rate - 1) / excluded.rate
from (select {clock} as last, cast($3 as bigint) as rate, cast($4 as bigint) as period) as excluded
where r.limiter = $1 and r.id = $2`)

func (s *Store) refundAtOnce(ctx context.Context, r rule, id string, n int64) error {
	clock, args := s.client.now(db.Postgres, 7, s.name, id, r.rate, r.period, r.limit, n*r.period)
	_, err := s.client.db.Exec(ctx, strings.Replace(pgRefund, "{clock}", clock, 1), args...)
	return err
}

// answer is a state, and whether it has the charge in it.
type answer struct {
	charged int
	state
}

// takeAtOnce decides in one statement. Only where a refused row is of another
// quota, or of a clock that was stepped back, a second one writes that down.
func (s *Store) takeAtOnce(ctx context.Context, r rule, id string, cost int64) (ratelimit.Decision, error) {
	if cost == 0 {
		st, found, err := s.read(ctx, s.client.db, id, false)
		if err != nil || !found {
			return r.decide(0, 0), err
		}
		owed, _ := r.owed(st)
		return r.decide(owed, 0), nil
	}
	need := cost * r.period
	clock, args := s.client.now(db.Postgres, 7, s.name, id, r.rate, r.period, r.limit, need)
	found, err := db.All(ctx, s.client.db, db.Query[answer]{
		Text: strings.Replace(pgTake, "{clock}", clock, 1), Args: args,
		Scan: func(row db.Row) (a answer, err error) {
			err = row.Scan(&a.charged, &a.now, &a.last, &a.debt, &a.rate, &a.period)
			return a, err
		},
	})
	switch {
	case err != nil:
		return ratelimit.Decision{}, err
	case len(found) == 0:
		// The row came and was spent while this statement waited for it.
		return refused(r, r.limit, need), nil
	case found[0].charged == 1:
		d := r.decide(found[0].debt-need, cost)
		d.Allowed = true
		return d, nil
	}
	owed, moved := r.owed(found[0].state)
	if moved {
		err = s.rewrite(ctx, r, id, found[0].state, owed)
	}
	return refused(r, owed, need), err
}

// refused answers by a state from before others were charged, which may have
// had room: the wait is then the least there is.
func refused(r rule, owed, need int64) ratelimit.Decision {
	owed = max(owed, r.limit-need+1)
	return r.decide(owed, need/r.period)
}

// rewrite stores what is owed by the clock and quota that are, if the row is
// still the one that was read.
func (s *Store) rewrite(ctx context.Context, r rule, id string, st state, owed int64) error {
	_, err := s.client.db.Exec(ctx, `update keystone_go_rate_limit
set last = $1, debt = $2, rate = $3, period = $4, full_at = $5
where limiter = $6 and id = $7 and last = $8 and debt = $9 and rate = $10 and period = $11`,
		st.now, owed, r.rate, r.period, st.now+r.micros(owed), s.name, id, st.last, st.debt, st.rate, st.period)
	return err
}
