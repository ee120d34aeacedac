//go:build !race

package v3_test

import (
	"io"
	"log/slog"
	"net/http"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// nowhere is a ResponseWriter that is used again and again.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}

// everyLayer has all limits that a request can meet, none of which refuses.
func everyLayer(mode ratelimit.Mode) ratelimit.Config {
	sec := per(100_000)
	sec.Mode = mode
	return ratelimit.Config{
		Default: sec, DefaultPrices: guessing, SignedIn: sec,
		Routes: []ratelimit.Route{
			{Name: "validate", Paths: []string{"GET:/v3/auth/tokens"}, PerPrincipal: perMinute(100_000), Shape: ratelimit.Section{Mode: mode}},
			{Name: "guarded", Paths: []string{"GET:/v3/guarded"}, PerAddress: perMinute(100_000), Prices: guessing, Shape: ratelimit.Section{Mode: mode}},
		},
	}
}

// served is a server whose limits are counted by real metrics.
func servedWith(t testing.TB, limits ratelimit.Config, burst int) (*v3.API, func(c call) *http.Request) {
	rows := append(guarded(fine), v3.Route{Method: "GET", Path: "/v3/auth/tokens", Rule: "identity:list_regions", Do: fine})
	metrics := ops.NewMetrics(ops.Sources{})
	st := newStand(t, setup{rows: rows, burst: burst, limits: limits, observe: metrics.Decided, change: func(c *v3.Config) {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		c.Limiting.Roles = []string{"service"}
	}})
	return st.api, func(c call) *http.Request { return c.request(t) }
}

func allocations(t *testing.T, limits ratelimit.Config, burst int, c call) float64 {
	t.Helper()
	api, request := servedWith(t, limits, burst)
	r, w := request(c), nowhere{http.Header{}}
	return testing.AllocsPerRun(2000, func() {
		clear(w.header)
		api.ServeHTTP(w, r)
	})
}

// The limits of a request allocate nothing, whether they are enforced or
// shadows, and their metrics neither.
func TestLimitsAllocateNothing(t *testing.T) {
	for name, c := range map[string]call{
		"validation": {path: "/v3/auth/tokens", token: "tok-member"},
		"service":    {path: "/v3/auth/tokens", token: "tok-service"},
		"row":        {path: "/v3/guarded", token: "tok-admin"},
		"stranger":   {path: "/v3/guarded", token: "rubbish"},
	} {
		none := allocations(t, ratelimit.Config{}, 0, c)
		for _, mode := range []ratelimit.Mode{ratelimit.Enforce, ratelimit.Shadow} {
			// The last of a sync.Pool may be taken by a collection: less than
			// one in a hundred requests.
			if got := allocations(t, everyLayer(mode), 100_000, c); got-none > 0.01 {
				t.Errorf("%s, %s: %.2f allocations, %.2f without limits", name, mode, got, none)
			}
		}
	}
}

// BenchmarkLimits is a validation through the whole API but for its work, with
// no limits, with the packaged layers as shadows, and enforced.
func BenchmarkLimits(b *testing.B) {
	for name, limits := range map[string]ratelimit.Config{
		"none": {}, "shadow": everyLayer(ratelimit.Shadow), "enforce": everyLayer(ratelimit.Enforce),
	} {
		for _, path := range []string{"/v3/auth/tokens", "/v3/guarded"} {
			b.Run(name+path, func(b *testing.B) {
				api, request := servedWith(b, limits, 0)
				r, w := request(call{path: path, token: "tok-member"}), nowhere{http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					clear(w.header)
					api.ServeHTTP(w, r)
				}
			})
		}
	}
}
