package sql

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Each minute rows on which nothing is owed are given up, which changes no
// decision: along the key, so many at a time and so many times at most. What is
// left over comes in the next minute.
const (
	sweepEvery  = time.Minute
	sweepRows   = 1000
	sweepChunks = 200
)

// startSweeper runs the sweep until the function that it returns is called;
// that one waits for a sweep under way.
func (s *Store) startSweeper() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		after := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A database that is away is told of by those who ask it.
				after, _ = s.sweep(ctx, after, sweepRows, sweepChunks)
			}
		}
	}()
	end := sync.OnceFunc(cancel)
	return func() { end(); <-done }
}

// sweep goes on behind an id and tells where it stopped; "" at the end.
func (s *Store) sweep(ctx context.Context, after string, rows, chunks int) (string, error) {
	for range chunks {
		ids, err := db.All(ctx, s.client.db, db.Query[string]{
			Text: `select id from keystone_go_rate_limit where limiter = $1 and id > $2 order by id limit $3`,
			Args: []any{s.name, after, rows},
			Scan: func(row db.Row) (id string, err error) { err = row.Scan(&id); return id, err },
		})
		if err != nil || len(ids) == 0 {
			return "", err
		}
		last := slices.Max(ids)
		clock, args := s.client.now(s.client.db.Dialect(), 4, s.name, after, last)
		n, err := s.client.db.Exec(ctx, `delete from keystone_go_rate_limit
where limiter = $1 and id > $2 and id <= $3 and full_at <= `+clock, args...)
		if err != nil {
			return "", err
		}
		s.swept.Add(uint64(n))
		if after = last; len(ids) < rows {
			return "", nil
		}
	}
	return after, nil
}
