package v3_test

import (
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// spent is what an address owes a limiter.
func spent(t *testing.T, l *ratelimit.Limiter) int64 {
	t.Helper()
	d, err := l.Peek(t.Context(), l.Address(netip.MustParseAddr("192.0.2.1")))
	if err != nil {
		t.Fatal(err)
	}
	return l.Quota().Burst - d.Remaining
}

// B06, C-19: a request costs what its policy says of its outcome, whatever was
// charged for it before.
func TestPriceByOutcome(t *testing.T) {
	var set *ratelimit.Set
	st := newStand(t, setup{rows: answers(), limits: ratelimit.Config{
		Default: per(10_000), DefaultPrices: flat,
		Routes: []ratelimit.Route{{Name: "ends", Paths: []string{"POST:/v3/ends/*"}, PerAddress: perMinute(100), Prices: guessing}},
	}, change: func(c *v3.Config) { set = c.Limits }})
	route := set.Routes[0].PerAddress
	for _, x := range []struct {
		status           int
		price, outermost int64
	}{{200, 0, 1}, {401, 10, 1}, {403, 5, 1}, {404, 0, 1}, {429, 0, 0}, {400, 1, 1}, {500, 1, 1}} {
		priced, flatly := spent(t, route), spent(t, set.Default)
		st.want("an answer", ends(x.status), x.status)
		if got := spent(t, route) - priced; got != x.price {
			t.Errorf("%d costs %d, want %d", x.status, got, x.price)
		}
		if got := spent(t, set.Default) - flatly; got != x.outermost {
			t.Errorf("%d costs the default layer %d, want %d", x.status, got, x.outermost)
		}
	}
	for range 500 {
		st.want("success is free", ends(200), 200)
	}
	st.want("eight more guesses", ends(401), 401, 401, 401, 401, 401, 401, 401, 401, 429)
	st.want("and even who knows has to wait", ends(200), 429)
}

// C-19: the dearest price is charged before the request runs, so that guesses
// which run at once cannot pass a limit that none of them has paid.
func TestParallelRequestsCannotPass(t *testing.T) {
	var reached atomic.Int64
	started, release := make(chan struct{}, 50), make(chan struct{})
	rows := []v3.Route{{Method: "POST", Path: "/v3/open", Do: func(*v3.Call) (v3.Reply, error) {
		reached.Add(1)
		started <- struct{}{}
		<-release
		return v3.Reply{}, fault.Denied("wrong")
	}}}
	st := newStand(t, setup{rows: rows, limits: ratelimit.Config{
		Routes: []ratelimit.Route{{Name: "open", Paths: []string{"POST:/v3/open"}, PerAddress: perMinute(40), Prices: guessing}},
	}})
	var all sync.WaitGroup
	codes := make(chan int, 50)
	for range 50 {
		all.Go(func() { codes <- st.do(call{method: "POST", path: "/v3/open", body: "{}"}).Code })
	}
	for range 4 {
		<-started
	}
	for range 46 {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("got %d while four guesses run", code)
		}
	}
	close(release)
	all.Wait()
	if n := reached.Load(); n != 4 {
		t.Errorf("%d guesses ran, want 4", n)
	}
}

// R111: tokens that one user is given are limited by him, from wherever he
// asks, and the answer that is over holds no token.
func TestTokenIssue(t *testing.T) {
	var issued *auth.Identity
	rows := []v3.Route{{Method: "POST", Path: "/v3/open", Do: func(c *v3.Call) (v3.Reply, error) {
		c.Issued = issued
		return v3.Reply{Status: http.StatusCreated, Body: map[string]any{}, Header: http.Header{"X-Subject-Token": {"secret"}}}, nil
	}}}
	st := newStand(t, setup{
		rows: rows, limits: ratelimit.Config{SignedIn: per(1), Routes: []ratelimit.Route{{Name: "issue", Paths: []string{"POST:/v3/open"}, PerPrincipal: perMinute(2)}}},
		change: func(c *v3.Config) { c.Limiting.Headers = v3.HeadersAll },
	})
	in := call{method: "POST", path: "/v3/open", body: "{}"}
	issued = holder("member")
	st.want("one user", in, 201, 201)
	in.peer = "192.0.2.99:1"
	w := st.do(in)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("X-Subject-Token") != "" {
		t.Errorf("got %d with %v", w.Code, w.Header())
	}
	issued = holder("admin")
	st.want("another", in, 201)
	if w := st.do(in); w.Header().Get("Ratelimit") != "" {
		t.Errorf("a credential route tells %q of its user", w.Header().Get("Ratelimit"))
	}
}

// A shadow with prices is counted as if it were enforced: what it would refuse
// costs nothing, and is given nothing back.
func TestShadowPrices(t *testing.T) {
	var set *ratelimit.Set
	st := newStand(t, setup{rows: answers(), limits: ratelimit.Config{
		Routes: []ratelimit.Route{{Name: "ends", Paths: []string{"POST:/v3/ends/*"}, PerAddress: perMinute(25), Prices: guessing, Shape: ratelimit.Section{Mode: ratelimit.Shadow}}},
	}, change: func(c *v3.Config) { set = c.Limits }})
	st.want("guesses", ends(401), 401, 401, 401, 401)
	st.want("a success beside them", ends(200), 200, 200)
	if got := spent(t, set.Routes[0].PerAddress); got != 20 {
		t.Errorf("owed %d, want 20", got)
	}
	if n := st.outcomes["rate_limit_route:ends.per_address shadow_rejected"]; n != 4 {
		t.Errorf("would have refused %d, want 4", n)
	}
}
