package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// guard limits callers by address: the whole of what a server needs.
type guard struct {
	addresses *clientaddr.Resolver
	limit     *ratelimit.Limiter
}

func newGuard() (*guard, error) {
	addresses, err := clientaddr.New(clientaddr.Config{Trusted: []string{"10.0.0.0/8"}})
	if err != nil {
		return nil, err
	}
	limit, err := ratelimit.New(ratelimit.Spec{
		Name:       "login",
		Quota:      ratelimit.Quota{Rate: 1, Period: time.Minute, Burst: 2},
		MaxEntries: 10_000,
	}, memory.Open)
	return &guard{addresses, limit}, err
}

// admit answers a request that must not go on, and says whether it may.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	addr, how := g.addresses.Resolve(r.RemoteAddr, r.Header)
	if how == clientaddr.NoPeer {
		http.Error(w, "no address", http.StatusServiceUnavailable)
		return false
	}
	d, err := g.limit.Take(r.Context(), g.limit.Address(addr))
	switch {
	case err != nil:
		http.Error(w, "try later", http.StatusServiceUnavailable)
		return false
	case !d.Allowed:
		w.Header().Set("Retry-After", strconv.Itoa(ratelimit.RetryAfter(d.Retry)))
		http.Error(w, ratelimit.Refusal, http.StatusTooManyRequests)
		return false
	}
	return true
}

// threeTimes sends a request of one client, through a proxy, three times.
func threeTimes(h http.Handler) {
	for range 3 {
		req := httptest.NewRequest(http.MethodPost, "/login", nil)
		req.RemoteAddr = "10.0.0.1:4711"
		req.Header.Set("X-Forwarded-For", "198.51.100.9")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Header()["Retry-After"])
	}
}

// The packages serve any net/http server.
func Example() {
	g, err := newGuard()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.limit.Close()
	threeTimes(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.admit(w, r) {
			w.WriteHeader(http.StatusCreated)
		}
	}))
	// Output:
	// 201 []
	// 201 []
	// 429 [60]
}

// With Echo, the guard is a middleware. Echo's own limiter and its RealIP must
// not be used beside it.
func Example_echo() {
	g, err := newGuard()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.limit.Close()
	e := echo.New()
	e.POST("/login", func(c echo.Context) error { return c.NoContent(http.StatusCreated) },
		func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				if !g.admit(c.Response(), c.Request()) {
					return nil
				}
				return next(c)
			}
		})
	threeTimes(e)
	// Output:
	// 201 []
	// 201 []
	// 429 [60]
}

// A limit that counts failures only: the unit is charged before the password is
// looked at, and given back when it was right. So guesses made at once cannot
// outrun the count.
func ExampleLimiter_Refund() {
	users, err := ratelimit.New(ratelimit.Spec{
		Name:       "user",
		Quota:      ratelimit.Quota{Rate: 1, Period: time.Minute, Burst: 2},
		MaxEntries: 10_000,
	}, memory.Open)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer users.Close()
	ctx, key := httptest.NewRequest(http.MethodPost, "/", nil).Context(), users.Text("alice's id")
	for _, right := range []bool{true, true, true, false, false, true} {
		d, err := users.Take(ctx, key)
		if err != nil || !d.Allowed {
			fmt.Println("refused", d.Retry.Round(time.Minute), err)
			continue
		}
		if right {
			err = users.Refund(ctx, key)
		}
		fmt.Println("verified", right, err)
	}
	// Output:
	// verified true <nil>
	// verified true <nil>
	// verified true <nil>
	// verified false <nil>
	// verified false <nil>
	// refused 1m0s <nil>
}

// A sliding window admits no more than its number in any minute, however they
// fall; a steady limit would give one back each half minute.
func Example_slidingWindow() {
	var at time.Duration // a clock for the example
	codes, err := ratelimit.New(ratelimit.Spec{
		Name:       "codes",
		Quota:      ratelimit.Quota{Rate: 2, Period: time.Minute, Burst: 2},
		Algorithm:  ratelimit.SlidingWindow,
		MaxEntries: 10_000,
		Now:        func() time.Duration { return at },
	}, memory.Open)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer codes.Close()
	ctx, key := context.Background(), codes.Text("alice's id")
	for _, at = range []time.Duration{0, 20 * time.Second, 40 * time.Second, 59 * time.Second, time.Minute, 70 * time.Second} {
		d, err := codes.Take(ctx, key)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(at, d.Allowed, d.Retry)
	}
	// Output:
	// 0s true 0s
	// 20s true 0s
	// 40s false 20s
	// 59s false 1s
	// 1m0s true 0s
	// 1m10s false 10s
}

// A request under several limits is charged by all or by none: what one refuses
// costs nothing under the others, and By names the one that did.
func ExampleTakeAll() {
	limit := func(name string, burst int64) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Spec{
			Name:       name,
			Quota:      ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: burst},
			MaxEntries: 10_000,
		}, memory.Open)
		if err != nil {
			panic(err)
		}
		return l
	}
	addresses, users := limit("address", 10), limit("user", 2)
	defer addresses.Close()
	defer users.Close()
	ctx, from := context.Background(), addresses.Address(netip.MustParseAddr("198.51.100.9"))
	for _, who := range []string{"alice", "alice", "alice", "bob"} {
		d, err := ratelimit.TakeAll(ctx,
			ratelimit.Charge{Limiter: addresses, Key: from, Cost: 3},
			ratelimit.Charge{Limiter: users, Key: users.Text(who), Cost: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		left, err := addresses.Peek(ctx, from)
		fmt.Printf("%s: %v %q, the address has %d left, %v\n", who, d.Allowed, d.By, left.Remaining, err)
	}
	// Output:
	// alice: true "", the address has 7 left, <nil>
	// alice: true "", the address has 4 left, <nil>
	// alice: false "user", the address has 4 left, <nil>
	// bob: true "", the address has 1 left, <nil>
}
