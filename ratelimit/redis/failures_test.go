package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// hasty is a client with the budgets of a server.
func hasty(t testing.TB, addr string) *redis.Client {
	t.Helper()
	return dial(t, redis.Config{URL: "redis://" + addr})
}

// RL-R02: scripts that are lost are sent again, and the charge is made once.
func TestRL_R02(t *testing.T) {
	s := redistest.Start(t)
	l := limiter(t, client(t, s.Addr), spec("r02", 1, time.Hour, 10))
	for i := range int64(5) {
		d, err := l.Take(t.Context(), key(1))
		if err != nil || !d.Allowed || d.Remaining != 9-i {
			t.Errorf("check %d: %+v, %v", i, d, err)
		}
		s.Do("SCRIPT", "FLUSH")
	}
}

// RL-R04: a state that this program did not write is a failure, not a fresh
// key, and stays what it is.
func TestRL_R04(t *testing.T) {
	s := redistest.Start(t)
	l := limiter(t, client(t, s.Addr), spec("r04", 1, time.Hour, 10))
	if _, err := l.Take(t.Context(), key(1)); err != nil {
		t.Fatal(err)
	}
	name := s.Do("KEYS", "*").([]any)[0].(string)
	for _, text := range []string{"hello", "", "1:2", "1:2:3:4:5", "-1:2:3:4", "1:2:0:4", "1:2:3:0", "1:99999999999999999:3:4", "9999999999999999:1:1:1", "1e3:1:1:1", "1:nan:1:1", "0x1:1:1:1"} {
		s.Do("SET", name, text)
		if d, err := l.Take(t.Context(), key(1)); err == nil || !strings.Contains(err.Error(), "STATE unreadable") || d.Allowed {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
		if got := s.Do("GET", name); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if d, err := l.Take(t.Context(), key(2)); err != nil || d.Remaining != 9 {
		t.Errorf("another key: %+v, %v", d, err)
	}
	if err := l.Reset(t.Context(), key(1)); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Take(t.Context(), key(1)); err != nil || d.Remaining != 9 {
		t.Errorf("after a reset: %+v, %v", d, err)
	}
	s.Do("DEL", name)
	s.Do("LPUSH", name, "x")
	if _, err := l.Take(t.Context(), key(1)); err == nil {
		t.Error("a list is taken for a state")
	}
}

// RL-R05: a key is there as long as something is owed and a moment longer, and
// a check after it equals a fresh key's. What is refused prolongs nothing.
func TestRL_R05(t *testing.T) {
	s := redistest.Start(t)
	st := open(t, client(t, s.Addr), spec("r05", 2, 2*time.Second, 3))
	name := func() string {
		all := s.Do("KEYS", "*").([]any)
		if len(all) != 1 {
			t.Fatalf("keys: %v", all)
		}
		return all[0].(string)
	}
	first := take(t, st, key(1), 3)
	left := s.Do("PTTL", name()).(int64)
	// The answer may have taken a while; the server rounds to its millisecond.
	if most := first.Reset.Milliseconds() + 2; left > most || left <= 0 {
		t.Errorf("%d ms to live, nothing is owed after %v", left, first.Reset)
	}
	if d := take(t, st, key(1), 3); d.Allowed {
		t.Fatalf("%+v", d)
	}
	if after := s.Do("PTTL", name()).(int64); after > left {
		t.Errorf("a refusal prolonged %d ms to %d", left, after)
	}
	// The exact value, from the server's own two numbers.
	s.Do("CONFIG", "SET", "hz", "100")
	value := strings.Split(fmt.Sprint(s.Do("GET", name())), ":")
	if len(value) < 2 {
		t.Fatalf("the state is %q", value)
	}
	debt, _ := strconv.ParseInt(value[1], 10, 64)
	if reset := debt / 2; first.Reset.Microseconds() != reset {
		t.Errorf("%v to the end of the debt, the state says %d µs", first.Reset, reset)
	}
	for range 500 {
		if len(s.Do("KEYS", "*").([]any)) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if again := take(t, st, key(1), 3); again != first {
		t.Errorf("after the key's end: %+v, for a fresh one %+v", again, first)
	}
}

// TestExpiry: the life that the script gives a key is what is owed, in
// milliseconds rounded up, and one more.
func TestExpiry(t *testing.T) {
	s := redistest.Start(t)
	st := open(t, client(t, s.Addr), spec("e", 7, time.Second, 10))
	feed := s.Monitor()
	take(t, st, key(1), 3) // 3/7 s = 428,571.43 µs
	for line := range feed {
		words := strings.Fields(line)
		if i := slices.Index(words, `"PX"`); i >= 0 {
			if words[i+1] != `"430"` {
				t.Errorf("the script wrote %s", line)
			}
			return
		}
	}
}

// RL-R06: a server that hangs keeps nobody longer than the budget, and after
// five failures nobody at all.
func TestRL_R06(t *testing.T) {
	s := redistest.Start(t)
	c := hasty(t, s.Addr)
	st := open(t, c, spec("r06", 1, time.Hour, 100))
	for range 200 { // until there is a connection: a busy machine may miss the budget
		if _, err := st.Take(t.Context(), key(1), 1); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.Pause()
	defer s.Resume()
	var took []time.Duration
	for i := range 5 {
		begin := time.Now()
		_, err := st.Take(t.Context(), key(1), 1)
		took = append(took, time.Since(begin))
		if err == nil || errors.Is(err, redis.ErrOpen) {
			t.Fatalf("check %d: %v", i, err)
		}
	}
	// A busy machine may wake us late, but not five times.
	if best := slices.Min(took); best > 60*time.Millisecond {
		t.Errorf("the checks took %v, none less than 60 ms", took)
	}
	took = nil
	for range 100 {
		begin := time.Now()
		if _, err := st.Take(t.Context(), key(1), 1); !errors.Is(err, redis.ErrOpen) {
			continue // a probe
		}
		took = append(took, time.Since(begin))
	}
	if !c.Broken() || len(took) < 90 || slices.Min(took) > time.Millisecond {
		t.Errorf("open: %v; %d of 100 checks were not asked, in %v at best", c.Broken(), len(took), slices.Min(took))
	}
}

// While the breaker is open one call a second goes to the server, and none
// besides; the first that works lets all through.
func TestProbe(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Between(t, s.Addr)
	c := dial(t, redis.Config{URL: "redis://" + p.Addr})
	st := open(t, c, spec("probe", 1, time.Hour, 100_000))
	p.Lose(true)
	for !c.Broken() {
		_, _ = st.Take(t.Context(), key(1), 1)
	}
	begin, before, asked := time.Now(), p.Trips(), 0
	for time.Since(begin) < 2500*time.Millisecond {
		if _, err := st.Take(t.Context(), key(1), 1); !errors.Is(err, redis.ErrOpen) {
			asked++
		}
		time.Sleep(time.Millisecond)
	}
	if asked < 1 || asked > 2 || p.Trips()-before > int64(2*asked) {
		t.Errorf("in 2.5 s %d probes and %d packets", asked, p.Trips()-before)
	}
	p.Lose(false)
	p.Cut()
	for end := time.Now().Add(20 * time.Second); c.Broken() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		_, _ = st.Take(t.Context(), key(1), 1)
	}
	if c.Broken() {
		t.Error("the breaker never closes")
	}
}

// RL-R11: an answer that is lost is not asked for again: the server may have
// made the charge.
func TestRL_R11(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Between(t, s.Addr)
	c := dial(t, redis.Config{URL: "redis://" + p.Addr, Budget: 2 * time.Second})
	st := open(t, c, spec("r11", 1, time.Hour, 10))
	take(t, st, key(2), 1) // connected, and the script is known
	lose(t, p, st)
	if d := take(t, open(t, client(t, s.Addr), spec("r11", 1, time.Hour, 10)), key(1), 0); d.Remaining != 8 {
		t.Errorf("%d were charged, want 2", 10-d.Remaining)
	}
}

// lose makes two charges of which no answer comes back: one whose connection
// ends, and one that the client waits for in vain.
func lose(t *testing.T, p *redistest.Proxy, st *redis.Store) {
	t.Helper()
	p.CutNext()
	if d, err := st.Take(t.Context(), key(1), 1); err == nil {
		t.Fatalf("a connection that ended: %+v", d)
	}
	// Connected again, if it takes a moment.
	for _, err := st.Take(t.Context(), key(1), 0); err != nil; _, err = st.Take(t.Context(), key(1), 0) {
		time.Sleep(50 * time.Millisecond)
	}
	p.Lose(true)
	defer p.Lose(false)
	if d, err := st.Take(t.Context(), key(1), 1); err == nil {
		t.Fatalf("no answer: %+v", d)
	}
}

// A server that answers after 200 ms is one that does not answer.
func TestSlowServer(t *testing.T) {
	p := redistest.Between(t, redistest.Start(t).Addr)
	c := hasty(t, p.Addr)
	st := open(t, c, spec("slow", 1, time.Hour, 1000))
	p.Delay(200 * time.Millisecond)
	var took []time.Duration
	for range 5 {
		begin := time.Now()
		if _, err := st.Take(t.Context(), key(1), 1); err == nil {
			t.Fatal("an answer within 50 ms of one that takes 200")
		}
		took = append(took, time.Since(begin))
	}
	if best := slices.Min(took); best > 60*time.Millisecond || !c.Broken() {
		t.Errorf("the checks took %v; open: %v", took, c.Broken())
	}
}

// A full server fails charges; it forgets nothing, and refuses still.
func TestOutOfMemory(t *testing.T) {
	s := redistest.Start(t, "--maxmemory-policy", "noeviction")
	st := open(t, client(t, s.Addr), spec("oom", 1, time.Hour, 2))
	take(t, st, key(1), 2)
	take(t, st, key(2), 1)
	s.Do("CONFIG", "SET", "maxmemory", "1")
	if d := take(t, st, key(1), 1); d.Allowed {
		t.Errorf("a key that owes all: %+v", d)
	}
	if _, err := st.Take(t.Context(), key(3), 1); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("a new key: %v", err)
	}
	s.Do("CONFIG", "SET", "maxmemory", "0")
	if d := take(t, st, key(2), 0); d.Remaining != 1 {
		t.Errorf("a key from before: %+v", d)
	}
}

// FLUSHALL gives each key one burst more, and no more.
func TestFlushed(t *testing.T) {
	s := redistest.Start(t)
	st := open(t, client(t, s.Addr), spec("flush", 1, time.Hour, 10))
	admitted := 0
	for i := range 60 {
		if take(t, st, key(1), 1).Allowed {
			admitted++
		}
		if i == 30 {
			s.Do("FLUSHALL")
		}
	}
	if admitted != 20 {
		t.Errorf("%d were admitted, want 20", admitted)
	}
}

// RL-L15: the server's clock is stepped. Forward, what was owed is paid early:
// one burst more at most. Back, nothing is forgiven, and nobody is kept out for
// the length of the step.
func TestRL_L15(t *testing.T) {
	c, at, _ := clocked(t)
	s := open(t, c, spec("l15", 1, time.Hour, 2))
	begin := at.at
	for i, c := range []struct {
		step    time.Duration
		allowed bool
		retry   time.Duration
	}{
		{0, true, 0},
		{2 * time.Hour, true, 0}, // paid
		{0, false, 2 * time.Hour},
		{-24 * time.Hour, false, 2 * time.Hour},
		{time.Hour, false, time.Hour},
		{time.Hour, true, 0},
		{-365 * 24 * time.Hour, false, 2 * time.Hour},
		{2*time.Hour - time.Microsecond, false, time.Microsecond},
		{time.Microsecond, true, 0},
	} {
		at.at += c.step
		if d := take(t, s, key(1), 2); d.Allowed != c.allowed || d.Retry != c.retry {
			t.Errorf("step %d, at %v: %+v, want %v and %v", i, at.at-begin, d, c.allowed, c.retry)
		}
	}
}

// The rows of the limiter's cases hold here too, by the server's own clock.
func TestCallersFault(t *testing.T) {
	c := client(t, redistest.Start(t).Addr)
	l := limiter(t, c, spec("cost", 1, time.Hour, 4))
	for _, cost := range []int64{-1, 5, 1 << 60} {
		if _, err := l.TakeCost(t.Context(), key(1), cost); !errors.Is(err, ratelimit.ErrCost) {
			t.Errorf("cost %d: %v", cost, err)
		}
	}
	if err := l.RefundCost(t.Context(), key(1), -1); !errors.Is(err, ratelimit.ErrCost) {
		t.Errorf("refund of -1: %v", err)
	}
	for range 20 { // callers who leave say nothing about the server
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Take(gone, key(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who left: %v", err)
		}
	}
	if c.Broken() {
		t.Error("callers who left opened the breaker")
	}
}
