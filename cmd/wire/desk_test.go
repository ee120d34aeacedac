package wire

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/limitlog"
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

// TestReloadConvertsDebts: who owes all owes all of the new quota, who owes a
// part owes as many units, a quota that stays is the identity, and the log
// says what became of which limit.
func TestReloadConvertsDebts(t *testing.T) {
	const all, part = "192.0.2.1", "192.0.2.2"
	for _, c := range []struct {
		burst, rate       int
		ofAll, ofPart     int // units left afterwards
		says, saysNothing string
	}{
		{3, 1, 0, 2, "", "has changed"},
		{3, 50, 0, 2, "3 at once, 1 each 1s", ""}, // as many units are owed, whatever pays them back
		{10, 1, 7, 9, "10 at once, 1 each 1s", ""},
		{2, 1, 0, 1, "2 at once, 1 each 1s", ""},
		{1, 1, 0, 0, "1 at once, 1 each 1s", ""},
	} {
		t.Run(fmt.Sprintf("%d %d", c.burst, c.rate), func(t *testing.T) {
			var out bytes.Buffer
			first, err := limitsOnly(t, nil, &out, nil)
			if err != nil {
				t.Fatal(err)
			}
			spend(t, first, all, 3)
			spend(t, first, part, 1)
			next, err := limitsOnly(t, first, &out, numbers(c.burst, c.rate))
			if err != nil {
				t.Fatal(err)
			}
			if next.Limits.GlobalIP != first.Limits.GlobalIP || next.Limits.UserAuth != first.Limits.UserAuth {
				t.Fatal("a limiter was made anew")
			}
			if got := first.Limits.GlobalIP.Quota(); got.Burst != 3 {
				t.Errorf("before Adopt: %v", got)
			}
			if _, err := next.Adopt(t.Context()); err != nil {
				t.Fatal(err)
			}
			next.TellLimits(t.Context(), slog.New(olog.New(&out, olog.Options{})), first)
			if got := spend(t, next, all, 20); got != c.ofAll {
				t.Errorf("who owed all got %d, want %d", got, c.ofAll)
			}
			if got := spend(t, next, part, 20); got != c.ofPart {
				t.Errorf("who owed one got %d, want %d", got, c.ofPart)
			}
			if got := spend(t, next, "192.0.2.3", 20); got != c.burst {
				t.Errorf("who owed nothing got %d, want %d", got, c.burst)
			}
			if text := out.String(); !strings.Contains(text, c.says) || c.saysNothing != "" && strings.Contains(text, c.saysNothing) {
				t.Errorf("the log says:\n%s", text)
			}
		})
	}
}

// Whatever is wrong with the next configuration, quotas, modes and debts are
// as they were; also when all was good and something after the limits fails.
func TestReloadThatFailsChangesNoLimit(t *testing.T) {
	var out bytes.Buffer
	first, err := limitsOnly(t, nil, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	spend(t, first, "192.0.2.1", 3)
	if _, err := limitsOnly(t, first, &out, numbers(0, 1)); err == nil {
		t.Fatal("a burst of 0 was taken over")
	}
	next, err := limitsOnly(t, first, &out, func(c *conf.Config) {
		numbers(50, 50)(c)
		c.RateLimit.Mode = "shadow"
		c.RateLimit.LogClearAddresses = true
	})
	if err != nil {
		t.Fatal(err)
	}
	undo, err := next.Adopt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l := first.Limits.GlobalIP; l.Quota().Burst != 50 || l.Mode() != ratelimit.Shadow || !first.refusals.ClearAddresses() {
		t.Errorf("after Adopt: %v, %s, clear %v", l.Quota(), l.Mode(), first.refusals.ClearAddresses())
	}
	undo()
	if l := first.Limits.GlobalIP; l.Quota().Burst != 3 || l.Mode() != ratelimit.Enforce || first.refusals.ClearAddresses() {
		t.Errorf("after undo: %v, %s, clear %v", l.Quota(), l.Mode(), first.refusals.ClearAddresses())
	}
	if got := spend(t, first, "192.0.2.1", 5); got != 0 {
		t.Errorf("who owed all got %d", got)
	}
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

// TestDeskHashesKeys: nothing that the desk or the log shows tells an address
// or an id, unless the option lets it.
func TestDeskHashesKeys(t *testing.T) {
	var out bytes.Buffer
	a, err := limitsOnly(t, nil, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := desk{a.face}
	ctx := olog.WithRequest(t.Context(), &olog.Request{ID: "req-1", Addr: netip.MustParseAddr("192.0.2.1"), User: "u-alice"})
	user := a.Limits.UserAuth
	for range 5 {
		_, _ = a.Limits.GlobalIP.Take(ctx, a.Limits.GlobalIP.Address(netip.MustParseAddr("192.0.2.1")))
		_, _ = user.Take(ctx, user.Text("u-alice"))
	}
	shown := func() string {
		l, err1 := d.Limiters(ctx, 10)
		s, err2 := d.Standing(ctx, ops.Subject{Address: "192.0.2.1"})
		u, err3 := d.Standing(ctx, ops.Subject{UserID: "u-alice"})
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		if len(s) == 0 || s[0].Remaining != 0 || s[0].Retry != 1 || len(u) == 0 || u[0].Remaining != 0 {
			t.Errorf("standing %+v, %+v", s, u)
		}
		if len(l) != 2 && len(l) != 3 || len(l[0].Debtors) != 1 || l[0].Debtors[0].Debt != 3 || l[0].Debtors[0].Key != s[0].Key {
			t.Errorf("limiters %+v", l)
		}
		return fmt.Sprintf("%+v %+v %+v", l, s, u)
	}
	text := shown() + out.String()
	for _, secret := range []string{"192.0.2.1", "u-alice", "c0000201", "192 0 2 1"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown:\n%s", secret, text)
		}
	}
	if n := strings.Count(out.String(), "refused by a rate limit"); n != 2 || !strings.Contains(out.String(), "req-1") {
		t.Errorf("%d lines for two keys:\n%s", n, out.String())
	}
	a.refusals.Use(limitlog.Config{Log: slog.New(slog.DiscardHandler), Now: time.Now, ClearAddresses: true})
	if text := shown(); !strings.Contains(text, "192.0.2.1") || strings.Contains(text, "u-alice") {
		t.Errorf("with addresses in clear:\n%s", text)
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
