package lockout_test

import (
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/lockout"
)

// TestFailTogether counts 64 failures at once and stops at the limit.
func TestFailTogether(t *testing.T) {
	const limit = 5
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		g := guard(ptr(limit), time.Hour)
		together(64, func(int) {
			if err := g.Fail(t.Context(), d, lockout.State{LocalID: 1}); err != nil {
				t.Error(err)
			}
		})
		if count, _ := state(t, d, 1); count == nil || *count != limit {
			t.Errorf("64 failures at once count as %v, want %d", count, limit)
		}
	})
}

// TestReleaseTogether lets 64 callers find the same lock run out and then fail:
// each clears only what has run out, so that the new failures still lock.
func TestReleaseTogether(t *testing.T) {
	const limit = 5
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		set(t, d, 1, limit, now.Add(-2*time.Hour))
		g := guard(ptr(limit), time.Hour)
		together(64, func(int) {
			s := lockout.State{LocalID: 1, Failures: limit, FailedAt: ptr(now.Add(-2 * time.Hour))}
			if err := g.Release(t.Context(), d, s); err != nil {
				t.Error(err)
			}
			if err := g.Fail(t.Context(), d, s); err != nil {
				t.Error(err)
			}
		})
		if count, at := state(t, d, 1); *count != limit || at == nil || !at.Equal(dbtest.Kept(d, now)) {
			t.Errorf("after 64 callers of a lock that had run out: %d failures at %v, want %d now", *count, at, limit)
		}
	})
}

func together(n int, f func(int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}
