package guess_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// stand is a guard whose clock stands still until moved.
type stand struct {
	*testing.T
	*guess.Guard
	at time.Duration
}

func newStand(t *testing.T) *stand {
	s := &stand{T: t}
	s.Guard = &guess.Guard{Memory: guess.NewMemory(guess.Sizes{}, s.now), TrustFor: 24 * time.Hour}
	return s
}

func (s *stand) now() time.Duration { return s.at }

// limiter is one of n each period; addresses are cut to the lengths given.
func (s *stand) limiter(name string, n int64, period time.Duration, v4, v6 int) *ratelimit.Limiter {
	s.Helper()
	l, err := ratelimit.New(ratelimit.Spec{
		Name: name, Quota: ratelimit.Quota{Rate: n, Period: period, Burst: n}, MaxEntries: 10_000,
		IPv4Prefix: v4, IPv6Prefix: v6, Now: s.now,
	}, memory.Open)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(l.Close)
	return l
}

func (s *stand) narrow(name string, n int64) *ratelimit.Limiter {
	return s.limiter(name, n, time.Minute, 32, 64)
}

func (s *stand) wide(name string, n int64) *ratelimit.Limiter {
	return s.limiter(name, n, time.Minute, 24, 48)
}

func from(addr string) guess.Client { return guess.Client{Addr: netip.MustParseAddr(addr)} }

func host(n int) guess.Client { return from(fmt.Sprintf("10.0.%d.%d", n/256, n%256)) }

func known(id string) guess.Secret   { return guess.Secret{Who: id, Known: true, Guess: "x"} }
func unknown(id string) guess.Secret { return guess.Secret{Who: id, Guess: "x"} }

// begin is a try that must be let through.
func (s *stand) begin(c guess.Client, secret guess.Secret) *guess.Try {
	s.Helper()
	try, err := s.Begin(s.Context(), c, secret)
	if err != nil {
		s.Fatalf("refused: %v", err)
	}
	return try
}

func (s *stand) wrong(c guess.Client, secret guess.Secret) {
	s.Helper()
	s.begin(c, secret).Wrong(s.Context())
}

func (s *stand) right(c guess.Client, secret guess.Secret) {
	s.Helper()
	s.begin(c, secret).Right(s.Context())
}

// refused wants a 429 and gives its wait.
func (s *stand) refused(c guess.Client, secret guess.Secret) time.Duration {
	s.Helper()
	_, err := s.Begin(s.Context(), c, secret)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.TooMany || f.Message != ratelimit.Refusal {
		s.Fatalf("got %v, want a 429", err)
	}
	return f.RetryAfter
}

// whole wants every bucket of a try to owe nothing.
func (s *stand) whole(l *ratelimit.Limiter, k ratelimit.Key) {
	s.Helper()
	d, err := l.Peek(s.Context(), k)
	if err != nil || d.Reset != 0 {
		s.Errorf("%s owes something: %+v, %v", l.Name(), d, err)
	}
}

// TestNilGuard: without limits everything passes, and nothing is remembered.
func TestNilGuard(t *testing.T) {
	var g *guess.Guard
	try, err := g.Begin(t.Context(), guess.Client{}, known("u"))
	if err != nil || g.Twins() {
		t.Fatal(err)
	}
	try.Right(t.Context())
	try.Wrong(t.Context())
	try.Drop(t.Context())
	s := newStand(t)
	for range 1000 {
		s.wrong(guess.Client{}, known("u"))
	}
	if k := s.Memory.Known(); k != (guess.Known{}) {
		t.Errorf("remembered %+v", k)
	}
}

// TestDecoy: users and names that nobody has go through limiters of their own,
// and the numbers of both are the same, whatever is tried from where.
func TestDecoy(t *testing.T) {
	s := newStand(t)
	s.User, s.Decoy = s.narrow("user", 3), s.narrow("decoy", 3)
	for range 3 {
		s.wrong(host(1), known("u"))
		s.wrong(host(2), unknown("u"))
	}
	if a, b := s.refused(host(3), known("u")), s.refused(host(4), unknown("u")); a != b || a != 20*time.Second {
		t.Errorf("waits %v and %v", a, b)
	}
	s.whole(s.User, s.User.Text("v"))
	if u, d := s.User.Stats(), s.Decoy.Stats(); u.Allowed != 3 || d.Allowed != 3 || u.Refused != 1 || d.Refused != 1 {
		t.Errorf("user %+v, decoy %+v", u, d)
	}
	s.wrong(host(3), unknown("v"))
	s.wrong(host(3), known("v"))
}

// TestAllOrNone: what one limit refuses costs nothing under the others.
func TestAllOrNone(t *testing.T) {
	s := newStand(t)
	s.User, s.Decoy, s.Address, s.Pair = s.narrow("user", 10), s.narrow("decoy", 10), s.narrow("address", 2), s.narrow("pair", 10)
	s.wrong(host(1), known("u"))
	s.wrong(host(1), unknown("nobody"))
	for range 5 {
		s.refused(host(1), known("v"))
		s.refused(host(1), unknown("v"))
	}
	s.whole(s.User, s.User.Text("v"))
	s.whole(s.Decoy, s.Decoy.Text("v"))
	s.wrong(host(2), known("v"))
}

// TestSuccessCostsNothing: of no limit, however many there are.
func TestSuccessCostsNothing(t *testing.T) {
	s := newStand(t)
	s.User, s.Address, s.AddressWide = s.narrow("user", 2), s.narrow("address", 2), s.wide("address.wide", 2)
	s.Pair, s.PairWide, s.Spray, s.Password = s.narrow("pair", 2), s.wide("pair.wide", 2), s.narrow("spray", 2), s.narrow("password", 2)
	s.Growing, s.PasswordPrice = true, 5
	for range 100 {
		s.right(host(1), known("u"))
		s.begin(host(1), known("u")).Drop(s.Context())
	}
	s.whole(s.User, s.User.Text("u"))
	for _, l := range []*ratelimit.Limiter{s.Address, s.AddressWide, s.Spray} {
		s.whole(l, l.Address(host(1).Addr))
	}
	if k := s.Memory.Known(); k != (guess.Known{}) {
		t.Errorf("remembered %+v", k)
	}
	try := s.begin(host(1), known("u"))
	try.Wrong(s.Context())
	try.Right(s.Context()) // the first word stands
	if d, _ := s.User.Peek(s.Context(), s.User.Text("u")); d.Remaining != 1 {
		t.Errorf("a try ended twice: %+v", d)
	}
}

// TestTrustedPair: strangers spend a user's bucket, his own address has
// another, for as long as it is trusted.
func TestTrustedPair(t *testing.T) {
	s := newStand(t)
	s.User, s.Decoy, s.Trusted, s.Address = s.limiter("user", 2, 24*time.Hour, 32, 64), s.narrow("decoy", 2), s.narrow("trusted", 3), s.narrow("address", 2)
	home, near, away := from("2001:db8:0:1::1"), from("2001:db8:0:1:ffff::2"), from("2001:db8:0:2::1")
	s.right(home, known("nova"))
	for n := range 2 {
		s.wrong(host(n), known("nova"))
	}
	s.refused(host(9), known("nova"))
	s.refused(away, known("nova"))
	for range 3 {
		s.wrong(home, known("nova")) // of its own bucket alone: not two by address
	}
	s.refused(near, known("nova"))
	s.wrong(home, known("glance"))
	s.wrong(home, known("glance"))
	s.refused(home, known("glance")) // another user is a stranger there
	s.at += time.Minute
	for range 10 {
		s.right(near, known("nova")) // each lengthens the trust
	}
	s.at += 24*time.Hour - time.Second
	s.right(home, known("nova"))
	s.at += 24 * time.Hour
	for n := range 2 {
		s.wrong(host(n), known("nova"))
	}
	s.refused(home, known("nova"))
	s.begin(home, unknown("nobody")).Right(s.Context())
	if k := s.Memory.Known(); k.Trusted != 1 {
		t.Errorf("%d pairs, want 1: nobody is trusted", k.Trusted)
	}
}

// TestFailedByAddress: failures are counted by address, and by the network
// around it; an exempt address is not counted, users are.
func TestFailedByAddress(t *testing.T) {
	for _, tt := range []struct{ one, other, far string }{
		{"198.51.100.%d", "198.51.100.77", "198.51.101.1"},
		{"2001:db8:1:%d::1", "2001:db8:1:77::1", "2001:db8:2::1"},
	} {
		s := newStand(t)
		s.User, s.Address, s.AddressWide = s.narrow("user", 40), s.narrow("address", 3), s.wide("wide", 24)
		for n := range 8 {
			c := from(fmt.Sprintf(tt.one, n))
			for i := range 3 {
				s.right(c, known("v"))
				s.wrong(c, known(fmt.Sprint("u", n, i)))
			}
			s.refused(c, known("v"))
		}
		s.refused(from(tt.other), known("v"))
		s.wrong(from(tt.far), known("v"))
		exempt := from(tt.other)
		exempt.Exempt = true
		for range 39 {
			s.wrong(exempt, known("v"))
		}
		s.refused(exempt, known("v"))
	}
}

// TestFailedPair: failures are counted by user and address, and by user and
// network; another user there, and the user elsewhere, have their own.
func TestFailedPair(t *testing.T) {
	for _, secret := range []func(string) guess.Secret{known, unknown} {
		s := newStand(t)
		s.Pair, s.PairWide = s.narrow("pair", 2), s.wide("pair.wide", 4)
		for n := range 2 {
			s.wrong(host(n), secret("u"))
			s.wrong(host(n), secret("u"))
			s.refused(host(n), secret("u"))
			s.wrong(host(n), secret("v"))
		}
		s.refused(host(9), secret("u"))
		s.wrong(host(9), secret("v"))
		s.wrong(host(300), secret("u"))
	}
}

// TestGrowingPenalty: 1, 2, 4 and 8 of 20 leave too little for 16; a success
// from the pair begins anew, and so does time.
func TestGrowingPenalty(t *testing.T) {
	for _, secret := range []func(string) guess.Secret{known, unknown} {
		s := newStand(t)
		s.Pair, s.Growing = s.narrow("pair", 20), true
		fill := func() {
			s.Helper()
			for range 4 {
				s.wrong(host(1), secret("u"))
			}
			if wait := s.refused(host(1), secret("u")); wait != 33*time.Second { // 11 are missing, one comes each 3 s
				t.Errorf("wait %v, want 33 s", wait)
			}
		}
		fill()
		s.wrong(host(2), secret("u"))
		s.at += 33 * time.Second
		s.wrong(host(1), secret("u"))
		if wait := s.refused(host(1), secret("u")); wait != time.Minute { // the whole burst is the most
			t.Errorf("wait %v, want a minute", wait)
		}
		s.at += time.Minute
		s.right(host(1), secret("u"))
		fill()
		s.at += 2 * time.Minute
		fill()
	}
}

// TestSpray: an address is refused once it has failed at so many, each counted
// once, and may go on at those alone; at once or one after another.
func TestSpray(t *testing.T) {
	for _, secret := range []func(string) guess.Secret{known, unknown} {
		s := newStand(t)
		s.Spray = s.limiter("spray", 5, 10*time.Minute, 32, 64)
		for range 50 {
			s.wrong(host(1), secret("u0"))
			s.right(host(1), secret("someone"))
		}
		one, two := s.begin(host(1), secret("u1")), s.begin(host(1), secret("u1"))
		one.Wrong(s.Context())
		two.Wrong(s.Context())
		for n := 2; n < 5; n++ {
			s.wrong(host(1), secret(fmt.Sprint("u", n)))
		}
		s.refused(host(1), secret("u5"))
		s.wrong(host(1), secret("u3"))
		s.wrong(host(2), secret("u5"))
		s.at += 2 * time.Minute
		s.wrong(host(1), secret("u5"))
		s.refused(host(1), secret("u6"))
		s.at += 10 * time.Minute
		for n := range 5 {
			s.wrong(host(1), secret(fmt.Sprint("u", n)))
		}
		s.refused(host(1), secret("u5"))
	}
}

// TestSprayedPassword: a password that was wrong for so many is dearer, from
// wherever; another one is not, and the number of tries at one user does not
// matter.
func TestSprayedPassword(t *testing.T) {
	s := newStand(t)
	s.Address, s.Password, s.PasswordPrice = s.narrow("address", 12), s.limiter("password", 3, 10*time.Minute, 32, 64), 5
	with := func(who, password string) guess.Secret {
		return guess.Secret{Who: who, Known: who[0] == 'u', Guess: password}
	}
	for range 10 {
		s.wrong(host(1), with("u0", "summer"))
	}
	for n := range 12 {
		s.wrong(host(2), with("u0", fmt.Sprint("other", n)))
	}
	s.wrong(host(3), with("u1", "summer"))
	s.wrong(host(4), with("nobody", "summer"))
	s.wrong(host(5), with("u3", "summer"))
	s.wrong(host(5), with("u4", "summer"))
	s.refused(host(5), with("u5", "summer"))
	s.wrong(host(5), with("u5", "winter"))
	s.at += 10 * time.Minute
	for n := range 12 {
		s.wrong(host(5), with("u0", fmt.Sprint("other", n)))
	}
}

// TestNoAddress: a limit by address refuses whoever has none, by a 503; those
// by user need none, and nobody is trusted without.
func TestNoAddress(t *testing.T) {
	s := newStand(t)
	s.User, s.Trusted = s.narrow("user", 2), s.narrow("trusted", 9)
	s.right(guess.Client{}, known("u"))
	s.wrong(guess.Client{}, known("u"))
	s.wrong(guess.Client{}, known("u"))
	s.refused(guess.Client{}, known("u"))
	s.Address = s.narrow("address", 2)
	_, err := s.Begin(s.Context(), guess.Client{}, known("v"))
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
		t.Errorf("got %v, want a 503 with a wait", err)
	}
	s.whole(s.User, s.User.Text("v"))
}

// TestShadow: a limit in shadow is charged and refuses nobody.
func TestShadow(t *testing.T) {
	s := newStand(t)
	s.User, s.Password, s.Address = s.narrow("user", 2), s.narrow("password", 1), s.narrow("address", 20)
	s.PasswordPrice = 20
	s.User.SetMode(ratelimit.Shadow)
	s.Password.SetMode(ratelimit.Shadow)
	told := 0
	s.User.OnRefusal(func(context.Context, *ratelimit.Limiter, ratelimit.Key) { told++ })
	for n := range 20 {
		s.wrong(host(1), known(fmt.Sprint("u", n%2)))
	}
	s.refused(host(1), known("u0"))
	for range 5 {
		s.right(host(2), known("u0")) // gives nothing back that it was not charged
	}
	if d, _ := s.User.Peek(t.Context(), s.User.Text("u0")); d.Remaining != 0 {
		t.Errorf("the shadow's bucket: %+v", d)
	}
	if want := 20 - 2*2 + 1 + 5; told != want {
		t.Errorf("the log of decisions was told of %d, want %d", told, want)
	}
	s.Address.SetMode(ratelimit.Shadow)
	s.wrong(guess.Client{}, known("u1")) // without an address no shadow refuses
}

// TestStoreIsAway: an error of a store is a 503, no refusal; a success does not fail
// because its unit cannot be given back.
func TestStoreIsAway(t *testing.T) {
	s := newStand(t)
	away := &awayStore{}
	l, err := ratelimit.New(ratelimit.Spec{Name: "user", Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}},
		func(ratelimit.Spec) (ratelimit.Store, error) { return away, nil })
	if err != nil {
		t.Fatal(err)
	}
	s.User = l
	try := s.begin(host(1), known("u"))
	away.err = errors.New("away")
	try.Right(t.Context())
	for what, set := range map[string]func(){"a limit": func() {}, "a password's": func() { s.User, s.Password, s.Address = nil, l, s.narrow("address", 9) }} {
		set()
		_, err := s.Begin(t.Context(), host(1), known("u"))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
			t.Errorf("%s: got %v, want a 503 with a wait", what, err)
		}
	}
}
