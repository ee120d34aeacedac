//go:build interop

package suites_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// limits is which of the packaged limits the suites run with; empty for none.
var limits = os.Getenv(harness.LimitsSwitch)

// limited are the settings of a server with limits. Logins take as long as they
// do by default then: with the cheap hash of the other tests a client that waits
// for each answer makes twenty a second, and an address may make ten.
func limited(t *testing.T) peer.Conf {
	settings := peer.Conf(harness.SwitchedLimits(t))
	if limits != "" {
		settings["identity"] = map[string]string{"password_hash_rounds": "12"}
	}
	return settings
}

// tally is what a server has counted since its start: its answers by status,
// those of 429 by route, and by limit what was over it, also of a shadow.
type tally struct{ status, refused, over map[string]int }

func (c tally) minus(o tally) tally {
	return tally{minus(c.status, o.status), minus(c.refused, o.refused), minus(c.over, o.over)}
}

// minus leaves out what has not changed.
func minus(counts, before map[string]int) map[string]int {
	more := map[string]int{}
	for k, n := range counts {
		if n != before[k] {
			more[k] = n - before[k]
		}
	}
	return more
}

var (
	answered  = regexp.MustCompile(`(?m)^keystone_http_requests_total\{.*status="(\d+)".*\} (\d+)$`)
	refused   = regexp.MustCompile(`(?m)^keystone_http_requests_total\{.*route="([^"]+)",status="429"\} (\d+)$`)
	evaluated = regexp.MustCompile(`(?m)^keystone_rate_limit_decisions_total\{limiter="([^"]+)",outcome="\w*rejected"\} (\d+)$`)
)

// tallied reads the metrics of a server.
func tallied(t *testing.T, s *peer.Server) tally {
	t.Helper()
	a, err := peer.Send(s.AdminURL, peer.Call{Method: http.MethodGet, Path: "/metrics"})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("metrics: %v %v", a, err)
	}
	sum := func(form *regexp.Regexp) map[string]int {
		counts := map[string]int{}
		for _, m := range form.FindAllStringSubmatch(a.Body, -1) {
			if n, _ := strconv.Atoi(m[2]); n > 0 {
				counts[m[1]] += n
			}
		}
		return counts
	}
	return tally{sum(answered), sum(refused), sum(evaluated)}
}

// spared fails where a client has met a limit since the server had counted
// before.
func spared(t *testing.T, s *peer.Server, client string, before tally) {
	t.Helper()
	if limits == "" {
		return
	}
	c := tallied(t, s).minus(before)
	answers := 0
	for _, n := range c.status {
		answers += n
	}
	t.Logf("figure: %s with the packaged limits %s: %d answers, %d × 429, %d × 503; by status %v", client, limits, answers, c.status["429"], c.status["503"], c.status)
	if answers == 0 || c.status["429"]+c.status["503"]+len(c.over) != 0 {
		t.Errorf("%s: answers %v, 429 at %v, over the limits %v\n%s", client, c.status, c.refused, c.over, s.Log())
	}
}

// enforced fails unless the limits are what stops who guesses passwords: else
// it would say little that they stop nobody else.
func enforced(t *testing.T, s *peer.Server) {
	t.Helper()
	if limits == "" {
		return
	}
	for i := range 500 {
		a := s.Do(t, peer.Call{Method: http.MethodPost, Path: "/v3/auth/tokens", Body: peer.Login("admin", fmt.Sprint("wrong", i), nil)})
		if a.Status == http.StatusTooManyRequests {
			c := tallied(t, s)
			t.Logf("after %d wrong passwords: refused at %v, over the limits %v", i, c.refused, c.over)
			if c.status["429"] == 0 || len(c.refused) == 0 || len(c.over) == 0 {
				t.Error("the counters that the suites were held to do not have it")
			}
			return
		}
	}
	t.Error("500 wrong passwords met no limit")
}
