package guess_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// awayStore fails when told to.
type awayStore struct{ err error }

func (a *awayStore) Take(context.Context, ratelimit.Key, int64) (ratelimit.Decision, error) {
	return ratelimit.Decision{Allowed: true}, a.err
}
func (a *awayStore) Refund(context.Context, ratelimit.Key, int64) error { return a.err }
func (a *awayStore) Len() int                                           { return 0 }
func (a *awayStore) Close()                                             {}

// TestBounded: however many users, names and passwords are tried from however
// many addresses, no more is remembered than was said, and in bounded room. A
// pair that is used stays.
func TestBounded(t *testing.T) {
	s := newStand(t)
	const most = 1024
	s.Memory = guess.NewMemory(guess.Sizes{Trusted: most, Failing: most, Tried: most}, s.now)
	s.Pair, s.Spray, s.Password = s.narrow("pair", 20), s.narrow("spray", 100_000), s.narrow("password", 100_000)
	s.Trusted, s.User = s.narrow("trusted", 20), s.narrow("user", 100_000)
	s.Growing = true
	s.right(host(1), known("nova"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for n := range 20_000 {
		who := known(fmt.Sprint("u", n))
		who.Guess = who.Who
		s.wrong(host(n%15_000), who)
		s.right(host((n+7)%15_000), known(fmt.Sprint("w", n)))
		if n%50 == 0 {
			s.right(host(1), known("nova"))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	k := s.Memory.Known()
	if k.Trusted > most || k.Failing > most || k.Tried > most || k.Passwords > most || k.Trusted < most/2 || k.Evicted < 60_000 {
		t.Errorf("%+v, want at most %d of each", k, most)
	}
	// The limiters hold 10,000 keys each.
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 96*(4*most+6*10_000)+8<<20 {
		t.Errorf("%d bytes more of heap", grown)
	}
	for range 20 {
		s.wrong(host(1), known("nova"))
	}
	s.refused(host(1), known("nova")) // 20 are those of the trusted pair
	if st := s.Trusted.Stats(); st.Refused != 1 {
		t.Errorf("the pair is no longer trusted: %+v", st)
	}
}

// TestAtOnce: of guesses made at once no more are let through than one after
// another, and what is remembered can be written by all.
func TestAtOnce(t *testing.T) {
	s := newStand(t)
	s.User, s.Decoy, s.Trusted, s.Address = s.narrow("user", 50), s.narrow("decoy", 50), s.narrow("trusted", 30), s.narrow("address", 1000)
	s.Pair, s.Spray, s.Password = s.narrow("pair", 1000), s.narrow("spray", 1000), s.narrow("password", 1000)
	s.right(host(1), known("u"))
	var through [3]atomic.Int64
	var wg sync.WaitGroup
	for n := range 32 {
		wg.Go(func() {
			for range 50 {
				for i, x := range []struct {
					from   guess.Client
					secret guess.Secret
				}{{host(2 + n), known("u")}, {host(2 + n), unknown("x")}, {host(1), known("u")}} {
					if try, err := s.Begin(t.Context(), x.from, x.secret); err == nil {
						try.Wrong(t.Context())
						through[i].Add(1)
					}
				}
				if try, err := s.Begin(t.Context(), host(1000+n), known(fmt.Sprint("v", n))); err == nil {
					try.Right(t.Context())
				}
				s.Memory.Known()
			}
		})
	}
	wg.Wait()
	if a, b, c := through[0].Load(), through[1].Load(), through[2].Load(); a != 50 || b != 50 || c != 30 {
		t.Errorf("%d strangers, %d at nobody, %d from the user's address; want 50, 50, 30", a, b, c)
	}
}

// TestClockOfMemory: without a clock of its own it is the process's.
func TestClockOfMemory(t *testing.T) {
	s := newStand(t)
	s.Memory = guess.NewMemory(guess.Sizes{}, nil)
	s.User, s.Trusted, s.TrustFor = s.narrow("user", 1), s.narrow("trusted", 5), time.Hour
	s.right(host(1), known("u"))
	s.wrong(host(2), known("u"))
	s.wrong(host(1), known("u"))
}
