package passhash_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

const hashTime = 200 * time.Millisecond

func work() { time.Sleep(hashTime) }

// refusedFor returns what a Busy says, or fails.
func refusedFor(t *testing.T, err error) time.Duration {
	t.Helper()
	busy, ok := errors.AsType[*passhash.Busy](err)
	if !ok {
		t.Fatalf("got %v, want Busy", err)
	}
	return busy.RetryAfter
}

// Forty at once on two slots all come through, two at a time.
func TestFortyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := passhash.NewGate(2, 128, 15*time.Second)
		var running, most atomic.Int32
		var callers sync.WaitGroup
		start := time.Now()
		for range 40 {
			callers.Go(func() {
				err := g.Run(t.Context(), func() {
					n := running.Add(1)
					most.Store(max(most.Load(), n))
					work()
					running.Add(-1)
				})
				if err != nil {
					t.Errorf("refused: %v", err)
				}
			})
		}
		callers.Wait()
		if most.Load() != 2 {
			t.Errorf("%d ran at once, want 2", most.Load())
		}
		if took := time.Since(start); took != 20*hashTime {
			t.Errorf("took %v, want %v: a slot stood empty", took, 20*hashTime)
		}
		if diff := cmp.Diff(passhash.Stats{Done: 40}, g.Stats()); diff != "" {
			t.Errorf("stats: %s", diff)
		}
	})
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := passhash.NewGate(1, 100, time.Minute)
		var order []int
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				if err := g.Run(t.Context(), func() { order = append(order, i); work() }); err != nil {
					t.Errorf("%d: %v", i, err)
				}
			})
			synctest.Wait() // until it stands in the queue
		}
		callers.Wait()
		if len(order) != 50 || !slices.IsSorted(order) {
			t.Errorf("order %v", order)
		}
	})
}

// One slot and four places: of twenty at once five come through.
func TestQueueOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := passhash.NewGate(1, 4, time.Minute)
		var served, refused atomic.Int32
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				start := time.Now()
				err := g.Run(t.Context(), work)
				if err == nil {
					served.Add(1)
					return
				}
				refused.Add(1)
				if time.Since(start) != 0 {
					t.Error("a refusal took time")
				}
				// Five hashes of a quarter of a second are before a newcomer.
				if got, want := refusedFor(t, err), 1250*time.Millisecond; got != want {
					t.Errorf("RetryAfter: got %v, want %v", got, want)
				}
			})
		}
		callers.Wait()
		if served.Load() != 5 || refused.Load() != 15 {
			t.Errorf("%d served, %d refused, want 5 and 15", served.Load(), refused.Load())
		}
		if diff := cmp.Diff(passhash.Stats{Done: 5, Refused: 15}, g.Stats()); diff != "" {
			t.Errorf("stats: %s", diff)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := passhash.NewGate(1, 10, time.Second)
		var callers sync.WaitGroup
		callers.Go(func() {
			if err := g.Run(t.Context(), func() { time.Sleep(10 * time.Second) }); err != nil {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		if got := refusedFor(t, g.Run(t.Context(), work)); got != time.Second {
			t.Errorf("RetryAfter: got %v, want the least, 1 s", got)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("refused after %v, want the wait of 1 s", took)
		}
		callers.Wait()
		// A slow hash raises what is expected: an eighth of ten seconds and the
		// rest as before.
		callers.Go(func() { g.Run(t.Context(), func() { time.Sleep(3 * time.Second) }) })
		synctest.Wait()
		want := 250*time.Millisecond + (10*time.Second-250*time.Millisecond)/8
		if got := refusedFor(t, g.Run(t.Context(), work)); got != want {
			t.Errorf("RetryAfter: got %v, want %v", got, want)
		}
		callers.Wait()
		if diff := cmp.Diff(passhash.Stats{Done: 2, Refused: 2}, g.Stats()); diff != "" {
			t.Errorf("stats: %s", diff)
		}
	})
}

// Who hangs up leaves the queue at once, and frees no slot that computes.
func TestHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := passhash.NewGate(1, 10, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		waiting, leave := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			if err := g.Run(ctx, work); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: got %v", err)
			}
		})
		synctest.Wait()
		callers.Go(func() {
			if err := g.Run(waiting, func() { t.Error("computed for nobody") }); !errors.Is(err, context.Canceled) {
				t.Errorf("the second: got %v", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		var began time.Duration
		callers.Go(func() {
			if err := g.Run(t.Context(), func() { began = time.Since(start) }); err != nil {
				t.Errorf("the third: %v", err)
			}
		})
		synctest.Wait()
		if diff := cmp.Diff(passhash.Stats{Waiting: 2, Running: 1}, g.Stats()); diff != "" {
			t.Errorf("stats: %s", diff)
		}
		cancel()
		leave()
		synctest.Wait()
		if diff := cmp.Diff(passhash.Stats{Waiting: 1, Running: 1}, g.Stats()); diff != "" {
			t.Errorf("stats after hanging up: %s", diff)
		}
		callers.Wait()
		if began != hashTime {
			t.Errorf("the third began after %v, want %v: when the first was done", began, hashTime)
		}
		if err := g.Run(ctx, func() { t.Error("computed for nobody") }); !errors.Is(err, context.Canceled) {
			t.Errorf("hung up before: got %v", err)
		}
		if diff := cmp.Diff(passhash.Stats{Done: 2}, g.Stats()); diff != "" {
			t.Errorf("stats at the end: %s", diff)
		}
	})
}

// A panic in a hash is an error for its caller, and costs no slot.
func TestPanic(t *testing.T) {
	g := passhash.NewGate(1, 1, time.Minute)
	for range 3 {
		if err := g.Run(t.Context(), func() { panic("no") }); err == nil {
			t.Error("no error")
		}
	}
	if got := g.Stats().Running; got != 0 {
		t.Errorf("%d slots are lost", got)
	}
}

// Callers that come, hang up, are refused and served all at once, by the real
// clock: no slot is lost or made up, and no goroutine stays behind.
func TestCrowd(t *testing.T) {
	before := runtime.NumGoroutine()
	const slots = 3
	g := passhash.NewGate(slots, 5, 2*time.Millisecond)
	var running, done, computed atomic.Int32
	var callers sync.WaitGroup
	for i := range 400 {
		callers.Go(func() {
			for n := range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
				err := g.Run(ctx, func() {
					if now := running.Add(1); now > slots {
						t.Errorf("%d run at once", now)
					}
					time.Sleep(time.Duration(n) * 100 * time.Microsecond)
					computed.Add(1)
					running.Add(-1)
				})
				if err == nil {
					done.Add(1)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	for deadline := time.Now().Add(5 * time.Second); ; {
		s := g.Stats()
		if s.Running == 0 && s.Waiting == 0 && runtime.NumGoroutine() <= before {
			if int32(s.Done) != computed.Load() || done.Load() > computed.Load() || s.Refused == 0 {
				t.Errorf("stats %+v, %d computed, %d served", s, computed.Load(), done.Load())
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("stats %+v, %d goroutines, %d before", s, runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// Hash, Verify and Dummy have no way around the gate.
func TestAllGoThroughTheGate(t *testing.T) {
	h := hasher(t, passhash.Options{Slots: 1, Rounds: number(12)})
	blocked, cancel := context.WithCancel(t.Context())
	cancel()
	stored := "$2b$04$xxxxxxxxxxxxxxxxxxxxxuFAIw6.xtyEGeiLTPt7dKHbIYpuVzhE6"
	if _, err := h.Hash(blocked, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("Hash: %v", err)
	}
	for _, s := range []string{stored, "", "unreadable"} {
		if ok, err := h.Verify(blocked, s, "x"); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("Verify(%q): %v, %v", s, ok, err)
		}
	}
	if err := h.Dummy(blocked, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("Dummy: %v", err)
	}
	if s := h.Stats(); s.Done != 0 {
		t.Errorf("%d hashes were computed", s.Done)
	}
}

// Forty real logins at once on two slots.
func TestFortyLogins(t *testing.T) {
	h := hasher(t, passhash.Options{Slots: 2, Rounds: number(6), Wait: time.Minute})
	stored, err := h.Hash(t.Context(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for i := range 40 {
		callers.Go(func() {
			password := []string{"secret", "wrong"}[i%2]
			if ok, err := h.Verify(t.Context(), stored, password); err != nil || ok != (i%2 == 0) {
				t.Errorf("%s: %v, %v", password, ok, err)
			}
		})
	}
	callers.Wait()
	if s := h.Stats(); s.Done != 41 || s.Refused != 0 {
		t.Errorf("stats %+v", s)
	}
}
