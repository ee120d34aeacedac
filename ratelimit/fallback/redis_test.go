package fallback_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/fallback"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// node is one of several processes on one Redis.
type node struct {
	*ratelimit.Limiter
	client *redis.Client
	guard  *fallback.Guard
	log    lockedBuffer
	mu     sync.Mutex
	counts map[string]int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// patient is a client that waits for a server on a busy machine; one that is
// away refuses at once.
func patient(addr string) redis.Config {
	return redis.Config{URL: "redis://" + addr, Secret: []byte("s"), Budget: 5 * time.Second, DialTimeout: 5 * time.Second}
}

func newNode(t *testing.T, c redis.Config, p fallback.Policy, q ratelimit.Quota) *node {
	t.Helper()
	n := &node{counts: map[string]int{}}
	var err error
	if n.client, err = redis.Dial(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.client.Close)
	n.guard = fallback.New(n.client.Open, fallback.Config{Instances: 2, Log: slog.New(slog.NewTextHandler(&n.log, nil))})
	n.Limiter, err = ratelimit.New(ratelimit.Spec{
		Name: "node", Quota: q, MaxEntries: 1000,
		Observe: func(_, outcome string) {
			n.mu.Lock()
			n.counts[outcome]++
			n.mu.Unlock()
		},
	}, n.guard.Opener(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func (n *node) count(outcome string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[outcome]
}

// try takes one unit; what is no decision must be Unavailable.
func (n *node) try(t *testing.T, k ratelimit.Key) bool {
	t.Helper()
	d, err := n.Take(t.Context(), k)
	var u *fallback.Unavailable
	if err != nil && !errors.As(err, &u) {
		t.Fatal(err)
	}
	return err == nil && d.Allowed
}

// slow comes back so slowly that a test's length does not matter.
var slow = ratelimit.Quota{Rate: 10, Period: ratelimit.MaxPeriod, Burst: 10}

// RL-R07: without the server each of two processes admits half at once, and
// half a second.
func TestRL_R07(t *testing.T) {
	s := redistest.Start(t)
	nodes := []*node{newNode(t, patient(s.Addr), fallback.Local, slow), newNode(t, patient(s.Addr), fallback.Local, slow)}
	fast := newNode(t, patient(s.Addr), fallback.Local, ten)
	s.Kill()
	for i, n := range nodes {
		admitted := 0
		for range 30 {
			if n.try(t, ratelimit.Key{Hi: 1}) {
				admitted++
			}
		}
		if admitted != 5 || !n.guard.Failing() {
			t.Errorf("process %d admitted %d at once, want 5", i, admitted)
		}
	}
	admitted, begin := 0, time.Now()
	for time.Since(begin) < 3*time.Second {
		if fast.try(t, ratelimit.Key{Hi: 1}) {
			admitted++
		}
		time.Sleep(5 * time.Millisecond)
	}
	if most := 5 + 5*int(time.Since(begin)/time.Second+1); admitted < 10 || admitted > most {
		t.Errorf("%d in %v, want 5 and 5 a second", admitted, time.Since(begin))
	}
}

// RL-R08, the store's part: a closed limiter fails, and says when to come again.
func TestRL_R08(t *testing.T) {
	s := redistest.Start(t)
	n := newNode(t, patient(s.Addr), fallback.Closed, slow)
	s.Kill()
	for range 20 {
		if n.try(t, ratelimit.Key{Hi: 1}) {
			t.Fatal("admitted")
		}
	}
	if n.count(ratelimit.Failed) != 20 || n.count(ratelimit.Rejected) != 0 {
		t.Errorf("outcomes: %v", n.counts)
	}
}

// RL-R09: an open limiter admits; each check is counted, and one line a minute
// tells of it.
func TestRL_R09(t *testing.T) {
	s := redistest.Start(t)
	n := newNode(t, patient(s.Addr), fallback.Open, slow)
	s.Kill()
	for range 100 {
		if !n.try(t, ratelimit.Key{Hi: 1}) {
			t.Fatal("refused")
		}
	}
	if n.count(ratelimit.Fallback) != 100 || n.Stats().Fallbacks != 100 {
		t.Errorf("outcomes: %v", n.counts)
	}
	if lines := strings.Count(n.log.String(), "\n"); lines != 1 {
		t.Errorf("%d lines:\n%s", lines, n.log.String())
	}
}

// RL-R10: the server is looked for once a second. What was charged here in the
// meantime stays charged, for the next time.
func TestRL_R10(t *testing.T) {
	s := redistest.Start(t)
	n := newNode(t, patient(s.Addr), fallback.Local, slow)
	s.Kill()
	for i := range 20 {
		if got, want := n.try(t, ratelimit.Key{Hi: 1}), i < 5; got != want {
			t.Fatalf("check %d without the server: %v", i, got)
		}
	}
	s.Restart()
	shared := 0
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && shared < 10; time.Sleep(20 * time.Millisecond) {
		if n.try(t, ratelimit.Key{Hi: 1}) {
			shared++
		}
	}
	if shared != 10 || n.guard.Failing() || n.client.Broken() {
		t.Errorf("with the server again %d of 10; failing %v", shared, n.guard.Failing())
	}
	s.Kill()
	for range 20 {
		if n.try(t, ratelimit.Key{Hi: 1}) {
			t.Fatal("the second outage brought a fresh quota")
		}
	}
	if !strings.Contains(n.log.String(), "works again") {
		t.Errorf("the log does not tell the end:\n%s", n.log.String())
	}
}

// RL-R17: the network fails each two seconds. A key never gets more than the
// shared quota and this process' part together, and nothing piles up.
func TestRL_R17(t *testing.T) {
	rounds := 3
	if os.Getenv("KEYSTONE_GO_LONG") != "" {
		rounds = 15
	}
	p := redistest.Between(t, redistest.Start(t).Addr)
	n := newNode(t, redis.Config{URL: "redis://" + p.Addr, Secret: []byte("s")}, fallback.Local, ten)
	n.try(t, ratelimit.Key{Hi: 9})
	before, most := runtime.NumGoroutine(), 0
	begin, admitted := time.Now(), 0
	for round := range 2 * rounds {
		p.Lose(round%2 == 0)
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			if n.try(t, ratelimit.Key{Hi: 1}) {
				admitted++
			}
			most = max(most, runtime.NumGoroutine())
		}
	}
	seconds := time.Since(begin).Seconds() + 1
	if bound := 10 + 10*seconds + 5 + 5*seconds; float64(admitted) > bound || admitted < 20 {
		t.Errorf("%d were admitted in %.1f s, at most %.0f may be", admitted, seconds, bound)
	}
	// The proxy has two for each connection; one connection was in use.
	if most > before+20 {
		t.Errorf("%d goroutines, %d before", most, before)
	}
	if !strings.Contains(n.log.String(), "fails") {
		t.Error("the outage was not noticed")
	}
}

// Limits of one request fall back together: all or none, and a closed one
// before any is charged.
func TestTogetherWithoutServer(t *testing.T) {
	s := redistest.Start(t)
	n := newNode(t, patient(s.Addr), fallback.Local, slow)
	other := func(name string, p fallback.Policy, mode ratelimit.Mode) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Spec{Name: name, Quota: ratelimit.Quota{Rate: 1, Period: ratelimit.MaxPeriod, Burst: 2}, Mode: mode, MaxEntries: 10}, n.guard.Opener(p))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	small, shut := other("small", fallback.Local, ratelimit.Enforce), other("shut", fallback.Closed, ratelimit.Enforce)
	shadow := other("shadow", fallback.Closed, ratelimit.Shadow)
	s.Kill()
	k := ratelimit.Key{Hi: 1}
	together := func(more ...*ratelimit.Limiter) (ratelimit.Verdict, error) {
		charges := []ratelimit.Charge{{Limiter: n.Limiter, Key: k, Cost: 1}, {Limiter: shadow, Key: k, Cost: 1}}
		for _, l := range more {
			charges = append(charges, ratelimit.Charge{Limiter: l, Key: k, Cost: 1})
		}
		return ratelimit.TakeAll(t.Context(), charges...)
	}
	for i, want := range []bool{true, false, false} {
		if d, err := together(small); err != nil || d.Allowed != want {
			t.Errorf("request %d: %+v, %v", i, d, err)
		}
	}
	var u *fallback.Unavailable
	if _, err := together(shut); !errors.As(err, &u) {
		t.Errorf("with a closed limit: %v", err)
	}
	// Of five units one is charged: no refusal and no failure took another.
	for i := range 5 {
		if got, want := n.try(t, k), i < 4; got != want {
			t.Errorf("check %d: %v", i, got)
		}
	}
}
