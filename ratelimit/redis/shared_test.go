package redis_test

import (
	"bytes"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// RL-R01: two processes have one budget.
func TestRL_R01(t *testing.T) {
	s := redistest.Start(t)
	var nodes [2]*ratelimit.Limiter
	for i := range nodes {
		nodes[i] = limiter(t, client(t, s.Addr), spec("r01", 1, time.Hour, 10))
	}
	var allowed atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if d, err := nodes[i%2].Take(t.Context(), key(1)); err != nil {
				t.Error(err)
			} else if d.Allowed {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	if n := allowed.Load(); n != 10 {
		t.Errorf("%d of 20 were admitted, want 10", n)
	}
}

// RL-R14: the same address or name under two limiters is two counters.
func TestRL_R14(t *testing.T) {
	c := client(t, redistest.Start(t).Addr)
	a, b := limiter(t, c, spec("a", 1, time.Hour, 2)), limiter(t, c, spec("b", 1, time.Hour, 2))
	addr := a.Address(netip.MustParseAddr("192.0.2.1"))
	if addr != b.Address(netip.MustParseAddr("192.0.2.1")) {
		t.Fatal("an address has two keys")
	}
	for _, l := range []*ratelimit.Limiter{a, b} {
		for i, want := range []bool{true, true, false} {
			if d, err := l.Take(t.Context(), addr); err != nil || d.Allowed != want {
				t.Errorf("%s, check %d: %+v, %v", l.Name(), i, d, err)
			}
		}
	}
}

// RL-R15: what reaches the server names nobody, in a key or in a value, and is
// the same from each process with the secret, another with another.
func TestRL_R15(t *testing.T) {
	s := redistest.Start(t)
	address := netip.MustParseAddr("203.0.113.77")
	mine := spec("r15", 1, time.Hour, 5)
	var names [3]string
	for i, secret := range []string{"one", "one", "two"} {
		c := dial(t, redis.Config{URL: "redis://" + s.Addr, Secret: []byte(secret), Budget: patient})
		l := limiter(t, c, mine)
		for _, k := range []ratelimit.Key{l.Address(address), l.Text("alice@example.org")} {
			if d, err := l.Take(t.Context(), k); err != nil || !d.Allowed {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		var all []string
		for _, k := range s.Do("KEYS", "*").([]any) {
			all = append(all, k.(string)+"="+s.Do("GET", k.(string)).(string))
		}
		names[i] = strings.Join(all, "\n")
		for _, plain := range []string{"alice", "example", "203.0.113.77", "\xcb\x00\x71\x4d", "cb00714d", "ywBxTQ"} {
			if strings.Contains(names[i], plain) {
				t.Errorf("the server holds %q: %s", plain, names[i])
			}
		}
		if want := []int{2, 2, 4}[i]; len(all) != want {
			t.Errorf("process %d leaves %d keys, want %d: %s", i, len(all), want, names[i])
		}
		if !strings.HasPrefix(all[0], "keystone-go:ratelimit:r15:{") {
			t.Errorf("a key is called %s", all[0])
		}
	}
}

// All limits of a request are one round trip, and are charged all or none.
func TestTogether(t *testing.T) {
	p := redistest.Between(t, redistest.Start(t).Addr)
	c := client(t, p.Addr)
	wide, narrow := limiter(t, c, spec("wide", 1, time.Hour, 5)), limiter(t, c, spec("narrow", 1, time.Hour, 1))
	dry := spec("dry", 1, time.Hour, 1)
	dry.Mode = ratelimit.Shadow
	var reported []string
	dry.Observe = func(_, outcome string) { reported = append(reported, outcome) }
	shadow := limiter(t, c, dry)
	user := wide.Text("somebody")
	if _, err := wide.Peek(t.Context(), user); err != nil { // connect, and load the script
		t.Fatal(err)
	}
	for i, c := range []struct {
		allowed bool
		left    int64
		by      string
	}{{true, 0, ""}, {false, 0, "narrow"}, {false, 0, "narrow"}} {
		before := p.Trips()
		d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: wide, Key: user, Cost: 2},
			ratelimit.Charge{Limiter: shadow, Key: key(3), Cost: 1}, ratelimit.Charge{Limiter: narrow, Key: key(7), Cost: 1})
		if err != nil || d.Allowed != c.allowed || d.Remaining != c.left || d.By != c.by {
			t.Errorf("request %d: %+v, %v", i, d, err)
		}
		if n := p.Trips() - before; n != 1 {
			t.Errorf("request %d: %d round trips, want 1", i, n)
		}
	}
	if d, err := wide.Peek(t.Context(), user); err != nil || d.Remaining != 3 {
		t.Errorf("what another limit refused was charged: %+v, %v", d, err)
	}
	if got := strings.Join(reported, " "); got != "allowed shadow_rejected shadow_rejected" {
		t.Errorf("the shadow reported %q", got)
	}
	// A shadow that is over its quota keeps nobody from anything.
	d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: wide, Key: user, Cost: 1}, ratelimit.Charge{Limiter: shadow, Key: key(3), Cost: 1})
	if err != nil || !d.Allowed || d.Remaining != 2 {
		t.Errorf("beside a shadow: %+v, %v", d, err)
	}
	if d, err := wide.Peek(t.Context(), user); err != nil || d.Remaining != 2 {
		t.Errorf("a shadow kept another limit from its charge: %+v, %v", d, err)
	}
}

// A key that stands in a request twice is charged for both.
func TestTwiceInOneRequest(t *testing.T) {
	l := limiter(t, client(t, redistest.Start(t).Addr), spec("twice", 1, time.Hour, 3))
	for i, want := range []bool{true, false} {
		d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: l, Key: key(1), Cost: 1}, ratelimit.Charge{Limiter: l, Key: key(1), Cost: 1})
		if err != nil || d.Allowed != want {
			t.Errorf("request %d: %+v, %v", i, d, err)
		}
	}
	if d, _ := l.Peek(t.Context(), key(1)); d.Remaining != 1 {
		t.Errorf("%d remain, want 1", d.Remaining)
	}
}

// A decision is one round trip: once the script is known, one command a check,
// a refund or a look; and a refusal that still holds is none.
func TestOneRoundTrip(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Between(t, s.Addr)
	l := limiter(t, client(t, p.Addr), spec("trip", 1, time.Hour, 3))
	take := func(cost int64, allowed bool) {
		t.Helper()
		if d, err := l.TakeCost(t.Context(), key(1), cost); err != nil || d.Allowed != allowed {
			t.Fatalf("cost %d: %+v, %v", cost, d, err)
		}
	}
	take(1, true)
	count := func(what string, trips int64, f func()) {
		t.Helper()
		before := p.Trips()
		f()
		if n := p.Trips() - before; n != trips {
			t.Errorf("%s: %d round trips, want %d", what, n, trips)
		}
	}
	count("a check", 1, func() { take(1, true) })
	count("a look", 1, func() { take(0, true) })
	count("a refund", 1, func() {
		if err := l.Refund(t.Context(), key(1)); err != nil {
			t.Fatal(err)
		}
	})
	count("a refusal", 1, func() { take(3, false) })
	count("the same refusal", 0, func() { take(3, false) })
	count("a smaller cost", 1, func() { take(2, true) })
	count("another refusal", 1, func() { take(1, false) })
	count("both are known", 0, func() { take(1, false); take(3, false) })
	count("a refund frees", 2, func() {
		if err := l.Refund(t.Context(), key(1)); err != nil {
			t.Fatal(err)
		}
		take(1, true)
	})
	count("a reset frees", 3, func() {
		take(1, false)
		if err := l.Reset(t.Context(), key(1)); err != nil {
			t.Fatal(err)
		}
		take(3, true)
	})
}

// What is remembered of a refusal ends within a second, since another process
// may have given back.
func TestDenialEnds(t *testing.T) {
	s := redistest.Start(t)
	a, b := limiter(t, client(t, s.Addr), spec("d", 1, time.Hour, 1)), limiter(t, client(t, s.Addr), spec("d", 1, time.Hour, 1))
	for i, want := range []bool{true, false} {
		if d, err := a.Take(t.Context(), key(1)); err != nil || d.Allowed != want {
			t.Fatalf("check %d: %+v, %v", i, d, err)
		}
	}
	if err := b.Refund(t.Context(), key(1)); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for time.Since(begin) < 20*time.Second {
		d, err := a.Take(t.Context(), key(1))
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			return
		}
		if d.Retry <= 59*time.Minute || d.Retry > time.Hour {
			t.Fatalf("the wait is told as %v", d.Retry)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("what another process gave back is never seen")
}

// A wait that is told from memory is as long as the server would say.
func TestDenialHonest(t *testing.T) {
	l := limiter(t, client(t, redistest.Start(t).Addr), spec("h", 5, time.Second, 1))
	for range 5 {
		d, err := l.Take(t.Context(), key(1))
		for err == nil && !d.Allowed {
			if d.Retry <= 0 || d.Retry > 200*time.Millisecond || d.Reset < d.Retry {
				t.Fatalf("%+v", d)
			}
			time.Sleep(d.Retry)
			d, err = l.Take(t.Context(), key(1))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A changed quota keeps what is owed, as many units, until time pays it.
func TestRequota(t *testing.T) {
	c, at, _ := clocked(t)
	s := open(t, c, spec("q", 1, time.Minute, 10))
	take(t, s, key(1), 6)
	for _, step := range []struct {
		q    ratelimit.Quota
		left int64
	}{
		{ratelimit.Quota{Rate: 1, Period: time.Minute, Burst: 10}, 4},
		{ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 10}, 4},
		{ratelimit.Quota{Rate: 60, Period: time.Hour, Burst: 20}, 14},
		{ratelimit.Quota{Rate: 7, Period: 11 * time.Second, Burst: 6}, 0},
		{ratelimit.Quota{Rate: 99_991, Period: ratelimit.MaxPeriod - time.Microsecond, Burst: 99_989}, 99_983},
		{ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 3}, 0},
		{ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 30}, 27},
	} {
		if err := s.Requota(t.Context(), step.q); err != nil {
			t.Fatal(err)
		}
		// The key has the new quota from its first decision on.
		if d := take(t, s, key(1), step.q.Burst); d.Allowed || d.Remaining != step.left {
			t.Errorf("%+v: %+v, want %d left", step.q, d, step.left)
		}
		if d := take(t, s, key(1), 0); d.Remaining != step.left {
			t.Errorf("%+v, again: %+v, want %d left", step.q, d, step.left)
		}
	}
	at.at += time.Second
	if d := take(t, s, key(1), 0); d.Remaining != 28 {
		t.Errorf("a second later %d remain, want 28", d.Remaining)
	}
	if err := s.Requota(t.Context(), ratelimit.Quota{Rate: 1, Period: 10 * time.Nanosecond, Burst: 1}); err == nil {
		t.Error("a period of 10 ns is taken")
	}
}

// Nothing that is secret is in an error, and no URL that is refused is quoted.
func TestSecretsStay(t *testing.T) {
	const secret = "hunter2"
	for _, c := range []redis.Config{
		{URL: "redis//:" + secret + "@host"},
		{URL: "http://:" + secret + "@host"},
		{URL: "redis://" + secret + "@host"},
		{URL: "redis://:" + secret + "%zz@host"},
		{URL: "redis://:" + secret + "@"},
		{URL: "redis://:" + secret + "@host:0"},
		{URL: "redis://:" + secret + "@host/" + secret},
		{URL: "redis://:" + secret + "@host?" + secret + "=1"},
		{URL: "redis://:" + secret + "@host?a=%zz" + secret},
		{URL: "redis://:" + secret + "@a,b"},
		{URL: "redis://:" + secret + "@a/1", Cluster: true},
		{URL: "redis://:" + secret + "@a", Cluster: true, SentinelMaster: "m"},
		{URL: "unix://:" + secret + "@a/b"},
		{URL: "redis://:" + secret + "@a", CAFile: "x"},
		{URL: "rediss://:" + secret + "@a", CAFile: "/nowhere"},
		{URL: "rediss://:" + secret + "@a", CertFile: "/nowhere"},
	} {
		_, err := redis.Dial(c)
		if err == nil {
			t.Errorf("%+v is taken", c)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
	s := redistest.Start(t, "--requirepass", "another")
	l := limiter(t, dial(t, redis.Config{URL: "redis://:" + secret + "@" + s.Addr, Budget: patient}), spec("s", 1, time.Second, 1))
	_, err := l.Take(t.Context(), key(1))
	if err == nil || strings.Contains(err.Error(), secret) || bytes.Contains([]byte(err.Error()), []byte("another")) {
		t.Errorf("a wrong password: %v", err)
	}
}
