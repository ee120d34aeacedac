package fallback_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/fallback"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

var errAway = errors.New("nobody answers")

// frail is a shared store that can be away.
type frail struct {
	*memory.Store
	away *bool
}

func (f frail) Text(s string) ratelimit.Key {
	var b [16]byte
	copy(b[:], s)
	return ratelimit.KeyOf(b)
}

func (f frail) Take(ctx context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	if *f.away {
		return ratelimit.Decision{}, errAway
	}
	return f.Store.Take(ctx, k, cost)
}

func (f frail) Refund(ctx context.Context, k ratelimit.Key, n int64) error {
	if *f.away {
		return errAway
	}
	return f.Store.Refund(ctx, k, n)
}

func (f frail) Reset(ctx context.Context, k ratelimit.Key) error {
	if *f.away {
		return errAway
	}
	return f.Store.Reset(ctx, k)
}

// stage is a guarded limiter whose store and clock a test moves.
type stage struct {
	*ratelimit.Limiter
	guard    *fallback.Guard
	away     bool
	at       time.Duration
	log      bytes.Buffer
	outcomes map[string]int
}

func newStage(t *testing.T, p fallback.Policy, instances int, q ratelimit.Quota) *stage {
	t.Helper()
	s := &stage{outcomes: map[string]int{}, at: time.Hour}
	now := func() time.Duration { return s.at }
	s.guard = fallback.New(func(spec ratelimit.Spec) (ratelimit.Store, error) {
		m, err := memory.New(spec)
		return frail{m, &s.away}, err
	}, fallback.Config{Instances: instances, Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: now})
	l, err := ratelimit.New(ratelimit.Spec{
		Name: "x", Quota: q, MaxEntries: 1000, Now: now, Observe: func(_, outcome string) { s.outcomes[outcome]++ },
	}, s.guard.Opener(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	s.Limiter = l
	return s
}

// admitted tries n times at once.
func (s *stage) admitted(t *testing.T, n int) (allowed int) {
	t.Helper()
	for range n {
		d, err := s.Take(t.Context(), ratelimit.Key{Hi: 1})
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			allowed++
		}
	}
	return allowed
}

var ten = ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 10}

func TestPart(t *testing.T) {
	day := ratelimit.MaxPeriod
	for _, c := range []struct {
		q    ratelimit.Quota
		n    int64
		want ratelimit.Quota
	}{
		{ten, 1, ten},
		{ten, 2, ratelimit.Quota{Rate: 10, Period: 2 * time.Second, Burst: 5}},
		{ten, 3, ratelimit.Quota{Rate: 10, Period: 3 * time.Second, Burst: 3}},
		{ten, 100, ratelimit.Quota{Rate: 10, Period: 100 * time.Second, Burst: 1}},
		{ratelimit.Quota{Rate: 10, Period: day, Burst: 4}, 3, ratelimit.Quota{Rate: 3, Period: day, Burst: 1}},
		{ratelimit.Quota{Rate: 1, Period: day, Burst: 1}, 3, ratelimit.Quota{Rate: 1, Period: day, Burst: 1}},
	} {
		if got := fallback.Part(c.q, c.n); got != c.want {
			t.Errorf("%+v among %d: got %+v, want %+v", c.q, c.n, got, c.want)
		} else if err := got.Check(); err != nil {
			t.Errorf("%+v among %d: %v", c.q, c.n, err)
		}
	}
}

// A process keeps to its part of the quota while the store is away, and what is
// owed here stays owed until time pays it, however often the store comes back.
func TestLocal(t *testing.T) {
	s := newStage(t, fallback.Local, 2, ten)
	if n := s.admitted(t, 20); n != 10 || s.guard.Failing() {
		t.Errorf("with its store: %d of 20, failing %v", n, s.guard.Failing())
	}
	s.away = true
	if n := s.admitted(t, 20); n != 5 || !s.guard.Failing() {
		t.Errorf("without: %d of 20, failing %v; want 5", n, s.guard.Failing())
	}
	for range 10 {
		s.away = !s.away
		if n := s.admitted(t, 20); n != 0 {
			t.Fatalf("a change brought %d fresh units", n)
		}
	}
	s.at += time.Second
	if n := s.admitted(t, 20); n != 5 {
		t.Errorf("a second later: %d, want 5", n)
	}
	if st := s.Stats(); !st.Failing || st.Fallbacks == 0 || st.Entries != 1 {
		t.Errorf("stats: %+v", st)
	}
	if s.outcomes[ratelimit.Fallback] != int(s.Stats().Fallbacks) {
		t.Errorf("outcomes %v, %d fallbacks", s.outcomes, s.Stats().Fallbacks)
	}
}

func TestOpen(t *testing.T) {
	s := newStage(t, fallback.Open, 2, ten)
	s.away = true
	if n := s.admitted(t, 50); n != 50 {
		t.Errorf("got %d of 50", n)
	}
	if _, err := s.TakeCost(t.Context(), ratelimit.Key{Hi: 1}, 11); !errors.Is(err, ratelimit.ErrCost) {
		t.Errorf("a cost above the burst: %v", err)
	}
	if s.outcomes[ratelimit.Fallback] != 50 {
		t.Errorf("outcomes: %v", s.outcomes)
	}
}

// A closed limiter gives no decision but an error that asks to come again, and
// the failure is no caller's: nothing else is charged for it.
func TestClosed(t *testing.T) {
	s := newStage(t, fallback.Closed, 2, ten)
	s.away = true
	_, err := s.Take(t.Context(), ratelimit.Key{Hi: 1})
	var u *fallback.Unavailable
	if !errors.As(err, &u) || u.RetryAfterSeconds() < 1 || !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
	if err := s.Refund(t.Context(), ratelimit.Key{Hi: 1}); err != nil {
		t.Errorf("refund: %v", err)
	}
	if s.outcomes[ratelimit.Failed] != 1 {
		t.Errorf("outcomes: %v", s.outcomes)
	}
	s.away = false
	if n := s.admitted(t, 20); n != 10 {
		t.Errorf("with its store again: %d", n)
	}
}

// An hour of failures writes sixty lines, each with a count, and one when it is
// over.
func TestOneLineAMinute(t *testing.T) {
	s := newStage(t, fallback.Local, 1, ten)
	s.away = true
	for range 3600 {
		s.admitted(t, 2)
		s.at += time.Second
	}
	s.away = false
	s.admitted(t, 3)
	fails, works := strings.Count(s.log.String(), "fails"), strings.Count(s.log.String(), "works again")
	if fails != 60 || works != 1 || !strings.Contains(s.log.String(), "checks=120") || !strings.Contains(s.log.String(), errAway.Error()) {
		t.Errorf("%d lines of failure, %d of the end:\n%.500s", fails, works, s.log.String())
	}
}

// What the caller did wrong is not the store's failure.
func TestCallersFaults(t *testing.T) {
	s := newStage(t, fallback.Local, 1, ten)
	s.away = true
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Take(gone, ratelimit.Key{Hi: 1}); !errors.Is(err, errAway) {
		t.Errorf("a caller who left: %v", err)
	}
	s.away = false
	if _, err := s.TakeCost(t.Context(), ratelimit.Key{Hi: 1}, 11); !errors.Is(err, ratelimit.ErrCost) {
		t.Errorf("a cost above the burst: %v", err)
	}
	if s.guard.Failing() || s.log.Len() > 0 {
		t.Errorf("failing %v, log %s", s.guard.Failing(), s.log.String())
	}
}

// A user's success during an outage gives back here.
func TestRefundDuringOutage(t *testing.T) {
	s := newStage(t, fallback.Local, 2, ten)
	s.away = true
	for range 30 {
		if s.admitted(t, 1) != 1 {
			t.Fatal("a charge that was given back counts")
		}
		if err := s.Refund(t.Context(), ratelimit.Key{Hi: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Reset(t.Context(), ratelimit.Key{Hi: 1}); !errors.Is(err, errAway) {
		t.Errorf("a reset that the store never saw: %v", err)
	}
}

func TestNoSuchPolicy(t *testing.T) {
	g := fallback.New(memory.Open, fallback.Config{})
	if _, err := g.Opener("maybe")(ratelimit.Spec{Quota: ten, MaxEntries: 10}); err == nil {
		t.Error("no error")
	}
	// Keys of texts that differ in each process would make each count alone.
	if _, err := g.Opener(fallback.Local)(ratelimit.Spec{Quota: ten, MaxEntries: 10}); err == nil {
		t.Error("a store without keys of texts is taken")
	}
}
