package memory

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

func testStore(t *testing.T, entries int, now func() time.Duration) *Store {
	t.Helper()
	s, err := New(ratelimit.Spec{Quota: ratelimit.Quota{Rate: 10, Period: time.Second, Burst: 5}, MaxEntries: entries, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func numbered(n int) ratelimit.Key { return ratelimit.Key{Lo: uint64(n)} }

func TestShardLimits(t *testing.T) {
	for capacity, want := range map[int]int{1: 1, 3: 1, 1000: 1, 1023: 1, 1024: 2, 10_000: 16, 100_001: 128, 10_000_000: 256} {
		shards := newShards(capacity, &rule{})
		sum, least, most := 0, capacity, 0
		for i := range shards {
			sum += shards[i].limit
			least, most = min(least, shards[i].limit), max(most, shards[i].limit)
		}
		if len(shards) != want || sum != capacity || most-least > 1 {
			t.Errorf("%d entries: %d shards of %d to %d, %d in all; want %d shards", capacity, len(shards), least, most, sum, want)
		}
	}
}

// RL-S08: sweeping changes no answer, as long as there is room.
func TestRL_S08(t *testing.T) {
	at := time.Duration(0)
	now := func() time.Duration { return at }
	swept, kept := testStore(t, 5000, now), testStore(t, 5000, now)
	r, ctx := rand.New(rand.NewPCG(8, 8)), context.Background()
	for i := range 100_000 {
		at += time.Duration(r.Int64N(int64(time.Millisecond)))
		k, cost := numbered(r.IntN(1000)), r.Int64N(6)
		if r.IntN(10) == 0 {
			swept.Refund(ctx, k, cost)
			kept.Refund(ctx, k, cost)
			continue
		}
		got, _ := swept.Take(ctx, k, cost)
		if want, _ := kept.Take(ctx, k, cost); got != want {
			t.Fatalf("operation %d: got %+v, want %+v", i, got, want)
		}
		if i%997 == 0 {
			swept.sweep()
			intact(t, swept)
		}
	}
	if st := swept.Stats(); st.Swept == 0 || st.EvictedLive+st.EvictedIdle != 0 || kept.Stats().Swept != 0 {
		t.Errorf("the test has not run as meant: %+v, %+v", st, kept.Stats())
	}
}

// intact checks that lists, index and slots of each shard tell the same.
func intact(t *testing.T, s *Store) {
	t.Helper()
	for n := range s.shards {
		h := &s.shards[n]
		used := 0
		for i, sl := range h.slots {
			if sl.seen == 0 {
				continue
			}
			used++
			if h.index.find(h.slots, sl.key, sl.hash) != int32(i) || sl.hash != uint32(s.hash(sl.key)) || sl.seen > h.checks {
				t.Fatalf("shard %d: slot %d cannot be found", n, i)
			}
		}
		cells, unused := 0, 0
		for _, c := range h.index {
			if c != 0 {
				cells++
			}
		}
		for i := h.unused; i != none; i = h.slots[i].next {
			unused++
			if h.slots[i].seen != 0 || unused > len(h.slots) {
				t.Fatalf("shard %d: slot %d is not free", n, i)
			}
		}
		if used != h.held || used != cells || used+unused != len(h.slots) || len(h.slots) > h.limit || cap(h.slots) > max(h.limit, 8) || 3*cap(h.slots) > 2*len(h.index) {
			t.Fatalf("shard %d: %d used of %d held, %d cells of %d, %d unused, %d slots of %d",
				n, used, h.held, cells, len(h.index), unused, len(h.slots), h.limit)
		}
	}
}

func TestIntactUnderFlood(t *testing.T) {
	at := time.Duration(0)
	s := testStore(t, 2100, func() time.Duration { return at })
	r, ctx := rand.New(rand.NewPCG(9, 9)), context.Background()
	for i := range 200_000 {
		at += time.Duration(r.Int64N(int64(150 * time.Microsecond)))
		s.Take(ctx, numbered(r.IntN(1+i/20)), r.Int64N(6))
		if i%1009 == 0 {
			intact(t, s)
		}
		if i%10_007 == 0 {
			s.sweep()
		}
	}
	if st := s.Stats(); st.EvictedIdle == 0 || st.EvictedLive == 0 || st.Swept == 0 || st.Refused == 0 {
		t.Errorf("the test has not run as meant: %+v", st)
	}
}

// The sweep holds a lock for so many slots only; giving all of them up takes a
// fraction of a millisecond.
func TestSweepHold(t *testing.T) {
	best := time.Hour
	for range 20 { // others share the processor: the best run counts
		s := testStore(t, sweepSlots, func() time.Duration { return 0 })
		h := &s.shards[0]
		if len(s.shards) > 1 {
			h = &newShards(1, h.rule)[0]
			h.limit = sweepSlots
		}
		for n := range sweepSlots {
			if _, err := h.take(s, numbered(n), uint32(s.hash(numbered(n))), 0, 1); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		if n := h.reclaimAll(time.Hour, 0, len(h.slots)); n != sweepSlots {
			t.Fatalf("%d of %d given up", n, sweepSlots)
		}
		best = min(best, time.Since(begin))
	}
	if best > time.Millisecond {
		t.Errorf("a hold of %v, want at most 1ms", best)
	}
}

// places prints the shards of some keys, as this process sees them.
func places(s *Store) string {
	var b bytes.Buffer
	for n := range 64 {
		for i := range s.shards {
			if s.nth(s.hash(numbered(n))) == i {
				fmt.Fprint(&b, i, " ")
			}
		}
	}
	return b.String()
}

// RL-S09: nobody can know which keys meet in a shard: it differs from process
// to process, and between stores.
func TestRL_S09(t *testing.T) {
	const child = "KEYSTONE_GO_TEST_PLACES"
	here := places(testStore(t, 10_000, nil))
	if os.Getenv(child) != "" {
		fmt.Println("places:", here)
		return
	}
	if there := places(testStore(t, 10_000, nil)); there == here {
		t.Error("two stores of a process place keys alike")
	}
	run := func() string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRL_S09$")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.Output()
		_, line, ok := bytes.Cut(out, []byte("places:"))
		if err != nil || !ok {
			t.Fatalf("the other process: %v\n%s", err, out)
		}
		line, _, _ = bytes.Cut(line, []byte("\n"))
		return string(line)
	}
	if a, b := run(), run(); a == b {
		t.Errorf("two processes place keys alike: %s", a)
	}
}
