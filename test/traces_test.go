package test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestTraces: a login is one span by its route and one for each round trip to
// the database, in the caller's trace; nothing in them says who it was.
func TestTraces(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var mu sync.Mutex
			var sent strings.Builder
			collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sent.Write(body)
			}))
			defer collector.Close()
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
			c := newCloud(t, harness.Options{Engine: engine, Conf: func(c *conf.Config) {
				withTOTP(c)
				c.OsloMiddlewareTracing.Enabled, c.OsloMiddlewareTracing.OTLPEndpoint, c.OsloMiddlewareTracing.SamplingRate = true, collector.URL, 0
			}})
			s := secrets{}
			everything(c, s) // not sampled
			trace := "0af7651916cd43dd8448eb211c80319c"
			for _, password := range []string{"ben-pw", "wrong"} {
				c.Do(harness.Call{
					Method: "POST", Path: "/v3/auth/tokens?user=ana", Body: harness.Login("ana", password, harness.OnProject("p1")),
					Header: map[string]string{"Traceparent": "00-" + trace + "-b7ad6b7169203331-01"}, From: "192.0.2.99:1",
				})
			}
			var text string
			for range 1000 {
				time.Sleep(20 * time.Millisecond)
				mu.Lock()
				text = sent.String()
				mu.Unlock()
				if strings.Count(text, "POST /v3/auth/tokens") == 2 {
					break
				}
			}
			id, _ := hex.DecodeString(trace)
			system := map[string]string{"sqlite": "sqlite", "postgres": "postgresql", "mariadb": "mariadb"}[engine]
			if n := strings.Count(text, "POST /v3/auth/tokens"); n != 2 || strings.Count(text, string(id)) < 4 || strings.Count(text, "db read") < 2 ||
				!strings.Contains(text, system) || strings.Count(text, "req-") != 2 {
				t.Errorf("%d logins in the traces: %q", n, text)
			}
			if strings.Contains(text, "/v3/regions") {
				t.Errorf("what was not sampled is in the traces: %q", text)
			}
			for name, id := range c.ids {
				if strings.Contains(text, id) {
					t.Errorf("the traces hold the id of %s", name)
				}
			}
			for _, who := range []string{"ana", "\n\x02p1" /* a value, in protobuf */, "192.0.2.99", "wrong", "select"} {
				if strings.Contains(text, who) {
					t.Errorf("the traces hold %q", who)
				}
			}
			if found := s.in(text); found != "" {
				t.Errorf("the traces hold a %s", found)
			}
		})
	}
}
