package guess_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
)

// TestForget: what is known of one user goes, at one address or everywhere; of
// others it stays.
func TestForget(t *testing.T) {
	for _, c := range []struct {
		what             string
		user             string
		addr             netip.Addr
		trusted, failing int
	}{
		{"a pair", "nova", host(1).Addr, 5, 5},
		{"another address", "nova", host(9).Addr, 6, 6},
		{"a user", "nova", netip.Addr{}, 3, 3},
		{"another user", "cinder", netip.Addr{}, 6, 6},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newStand(t)
			s.Trusted, s.Pair, s.Growing = s.narrow("trusted", 20), s.narrow("pair", 20), true
			for n := range 3 {
				for _, user := range []string{"nova", "glance"} {
					s.wrong(host(n+100), known(user))
					s.right(host(n), known(user))
				}
			}
			if c.addr == host(1).Addr {
				s.Forget(c.user, host(101).Addr)
			}
			s.Forget(c.user, c.addr)
			if k := s.Memory.Known(); k.Trusted != c.trusted || k.Failing != c.failing || k.Evicted != 0 {
				t.Errorf("%+v, want %d and %d", k, c.trusted, c.failing)
			}
		})
	}
	(*guess.Guard)(nil).Forget("nova", netip.Addr{})
}

// TestForgetMeansAnew: a user who is forgotten pays the first price again, and
// his addresses are strangers.
func TestForgetMeansAnew(t *testing.T) {
	s := newStand(t)
	s.Trusted, s.Pair, s.Growing = s.narrow("trusted", 5), s.narrow("pair", 20), true
	s.right(host(2), known("u"))
	for range 4 {
		s.wrong(host(1), known("u"))
	}
	s.at += time.Minute // all is paid, the streak stands
	s.Forget("u", netip.Addr{})
	for range 4 {
		s.wrong(host(1), known("u")) // 1, 2, 4 and 8 of 20, not 16 at once
	}
	s.wrong(host(2), known("u"))
	if d, err := s.Trusted.Peek(s.Context(), guess.PairKey(s.Trusted, "u", host(2).Addr)); err != nil || d.Remaining != 5 {
		t.Errorf("the pair is trusted still: %+v, %v", d, err)
	}
}
