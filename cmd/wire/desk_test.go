package wire

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// limitsOnly builds what limits need of an App, without a database.
func limitsOnly(t *testing.T, before *App, out *bytes.Buffer, change func(*conf.Config)) (*App, error) {
	t.Helper()
	cfg := conf.Default()
	three, one := 3, 1
	cfg.RateLimitGlobalIP.Enabled, cfg.RateLimitGlobalIP.BurstSize, cfg.RateLimitGlobalIP.ReplenishRatePerSecond = true, &three, &one
	cfg.RateLimitUserAuth.Enabled, cfg.RateLimitUserAuth.BurstSize, cfg.RateLimitUserAuth.ReplenishRatePerSecond = true, &three, &one
	if change != nil {
		change(cfg)
	}
	b := &builder{cfg: cfg, app: &App{parts: map[string]*part{}}, Options: Options{
		Before: before, Now: time.Now, Tick: func() time.Duration { return 0 },
		Log: slog.New(olog.New(out, olog.Options{})),
	}}
	for _, step := range []func(context.Context) error{b.metrics, b.limits} {
		if err := step(t.Context()); err != nil {
			b.app.Close()
			return nil, err
		}
	}
	if before == nil {
		b.app.face.app.Store(b.app)
	}
	t.Cleanup(b.app.Close)
	return b.app, nil
}

func numbers(burst, rate int) func(*conf.Config) {
	return func(c *conf.Config) {
		c.RateLimitGlobalIP.BurstSize, c.RateLimitGlobalIP.ReplenishRatePerSecond = &burst, &rate
	}
}

// spend takes n units of an address and tells how many it got.
func spend(t *testing.T, a *App, addr string, n int) int {
	t.Helper()
	l, got := a.Limits.GlobalIP, 0
	for range n {
		d, err := l.Take(t.Context(), l.Address(netip.MustParseAddr(addr)))
		if err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			got++
		}
	}
	return got
}

// What cannot be carried over is told.
func TestReloadTellsWhatBeginsAnew(t *testing.T) {
	var out bytes.Buffer
	first, err := limitsOnly(t, nil, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := limitsOnly(t, first, &out, func(c *conf.Config) {
		c.RateLimitGlobalIP.MaxEntries = 20_000
		c.RateLimitUserAuth.Enabled = false
		c.RateLimitDefault.PerAddress = &conf.Limit{Requests: 5, Period: time.Minute, Burst: 5}
	})
	if err != nil {
		t.Fatal(err)
	}
	next.TellLimits(t.Context(), slog.New(olog.New(&out, olog.Options{})), first)
	for _, want := range []string{
		"A rate limit begins anew: what was owed is forgotten, because its store has changed limiter=rate_limit_global_ip",
		"A rate limit is off limiter=rate_limit_user_auth", "A rate limit is new limiter=rate_limit_default",
	} {
		if !strings.Contains(strings.ReplaceAll(out.String(), `"`, ""), want) {
			t.Errorf("the log does not say %q:\n%s", want, out.String())
		}
	}
}

// A reset gives back what the subject owes, and nothing of anybody else.
func TestDeskReset(t *testing.T) {
	var out bytes.Buffer
	a, err := limitsOnly(t, nil, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := desk{a.face}
	spend(t, a, "192.0.2.1", 3)
	spend(t, a, "192.0.2.2", 3)
	names, err := d.Reset(t.Context(), ops.Subject{Address: "192.0.2.1"})
	if err != nil || len(names) != 1 || names[0] != ratelimit.GlobalIP {
		t.Fatalf("reset: %v, %v", names, err)
	}
	if got := spend(t, a, "192.0.2.1", 5); got != 3 {
		t.Errorf("after the reset: %d, want 3", got)
	}
	if got := spend(t, a, "192.0.2.2", 5); got != 0 {
		t.Errorf("somebody else: %d, want 0", got)
	}
	if _, err := d.Reset(t.Context(), ops.Subject{Address: "x"}); err == nil {
		t.Error("no address, and no error")
	}
}
