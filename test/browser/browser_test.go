// Package browser_test looks at the operator's page as an operator does: in a
// real browser, of a server under attack. make test installs the browser; the
// program that drives it is a module of its own.
package browser_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

var update = flag.Bool("update", false, "keep the picture as docs/images/operator-page.png")

// browser finds a browser. In CI there must be one.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const message = "there is no chromium: make test installs it"
	if os.Getenv("CI") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// attacked is a server that somebody guesses at: an address over its limit, a
// user over his, an account that is locked, a layer in shadow.
func attacked(t *testing.T) *harness.Server {
	t.Helper()
	three, five, twenty, one := 3, 5, 20, 1
	s := harness.New(t, harness.Options{Engine: "sqlite", Tick: func() time.Duration { return 0 }, Conf: func(c *conf.Config) {
		c.SecurityCompliance.LockoutFailureAttempts, c.SecurityCompliance.LockoutDuration = &three, 1800
		g, u := &c.RateLimitGlobalIP, &c.RateLimitUserAuth
		g.Enabled, g.BurstSize, g.ReplenishRatePerSecond = true, &twenty, &one
		u.Enabled, u.BurstSize, u.ReplenishRatePerSecond = true, &five, &one
		c.RateLimitDefault.Mode = "shadow"
		c.RateLimitDefault.PerAddress = &conf.Limit{Requests: 300, Period: 60e9, Burst: 300}
	}})
	name, password := "ana", "ana-pw"
	pw := &password
	if _, err := s.Users.Create(t.Context(), "default", identity.Change{Name: &name, Password: &pw}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "x", nil), From: "192.0.2.77:1"})
		s.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "x", nil), From: fmt.Sprintf("198.51.100.%d:1", i)})
	}
	s.Admin()
	return s
}

// seen is what the driver prints.
type seen struct {
	Title, Limiters, Debts, Gate, Lockouts, Remaining string
	Bars                                              int
	Refreshes                                         bool
	Requests, Errors                                  []string
}

// TestOperatorPage opens the page, looks an address up, takes the picture and
// follows the link that makes the page refresh itself.
func TestOperatorPage(t *testing.T) {
	program := browser(t)
	s := attacked(t)
	admin := httptest.NewServer(s.App.Admin.Handler())
	defer admin.Close()
	picture := filepath.Join(t.TempDir(), "page.png")
	if *update {
		picture = "../../docs/images/operator-page.png"
	}
	absolute, err := filepath.Abs(picture)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "-C", "driver", "run", ".", "-url", admin.URL+"/", "-browser", program, "-address", "192.0.2.77", "-out", absolute)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var got seen
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for what, c := range map[string]struct{ text, want string }{
		"title": {got.Title, "keystone-go: limits"}, "address limiter": {got.Limiters, "rate_limit_global_ip"},
		"quota": {got.Limiters, "20 at once, 1 each 1s"}, "shadow": {got.Limiters, "shadow"}, "debts": {got.Debts, "rate_limit_global_ip"},
		"gate": {got.Gate, "turned away"}, "locked": {got.Lockouts, "default"}, "how to unlock": {got.Lockouts, "DELETE /v3/users/ID/lockout"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: %q is not in %q", what, c.want, c.text)
		}
	}
	for _, secret := range []string{"192.0.2.77", "198.51.100."} {
		if strings.Contains(got.Debts, secret) {
			t.Errorf("the debts show %s: %s", secret, got.Debts)
		}
	}
	if got.Bars == 0 || !got.Refreshes || got.Remaining == "" || got.Remaining == "20" {
		t.Errorf("%d bars, refreshes %v, the address has %q left", got.Bars, got.Refreshes, got.Remaining)
	}
	for _, r := range got.Requests {
		if !strings.HasPrefix(r, admin.URL+"/") {
			t.Errorf("the page fetched %s", r)
		}
	}
	if len(got.Errors) > 0 {
		t.Errorf("the browser complains: %q", got.Errors)
	}
	checkPicture(t, absolute)
}

// checkPicture: it is a picture of something, not an empty page.
func checkPicture(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours, b := map[any]bool{}, img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			colours[img.At(x, y)] = true
		}
	}
	if b.Dx() < 800 || b.Dy() < 600 || len(colours) < 20 {
		t.Errorf("the picture is %d by %d with %d colours", b.Dx(), b.Dy(), len(colours))
	}
}
