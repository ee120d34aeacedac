package test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// askHealth makes a request that came in on a port.
func askHealth(t *testing.T, s *harness.Server, c harness.Call, port int) harness.Answer {
	t.Helper()
	r := c.Request(t)
	return s.Serve(r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})))
}

// TestHealthcheck: the answers are those of oslo.middleware 8.2.0 to the same
// requests, but for the HTML.
func TestHealthcheck(t *testing.T) {
	off := filepath.Join(t.TempDir(), "off")
	s := harness.New(t, harness.Options{Engine: dbtest.Engines()[0], Bare: true, Conf: func(c *conf.Config) {
		c.Healthcheck.Backends = []string{"disable_by_file", "disable_by_files_ports"}
		c.Healthcheck.DisableByFilePath, c.Healthcheck.DisableByFilePaths = off, []string{"5001:" + off + "5001"}
	}})
	const plain, page, asJSON = "text/plain; charset=UTF-8", "text/html; charset=UTF-8", "application/json"
	for _, c := range []struct {
		method, path, accept string
		media, well, ill     string
	}{
		{"GET", "/healthcheck", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"GET", "/healthcheck/", "*/*", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"GET", "/healthcheck/a/b", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"GET", "/healthcheck", "image/png", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"POST", "/healthcheck", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"PUT", "/healthcheck/x", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"DELETE", "/healthcheck", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"OPTIONS", "/healthcheck", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{"BREW", "/healthcheck", "", plain, "OK\nOK", "DISABLED BY FILE\nOK"},
		{
			"GET", "/healthcheck", "application/json", asJSON,
			"{\n    \"detailed\": false,\n    \"reasons\": [\n        \"OK\",\n        \"OK\"\n    ]\n}",
			"{\n    \"detailed\": false,\n    \"reasons\": [\n        \"DISABLED BY FILE\",\n        \"OK\"\n    ]\n}",
		},
		{
			"GET", "/healthcheck", "application/json;q=0.5, text/html;q=0.4", asJSON,
			"{\n    \"detailed\": false,\n    \"reasons\": [\n        \"OK\",\n        \"OK\"\n    ]\n}",
			"{\n    \"detailed\": false,\n    \"reasons\": [\n        \"DISABLED BY FILE\",\n        \"OK\"\n    ]\n}",
		},
		{"GET", "/healthcheck", "text/html", page, "Result of 2 checks:", "<td>DISABLED BY FILE"},
		{"HEAD", "/healthcheck", "", "", "", ""},
		{"HEAD", "/healthcheck/x", "text/html", "", "", ""},
	} {
		for _, ill := range []bool{false, true} {
			_ = os.Remove(off)
			status, media, want := http.StatusOK, c.media, c.well
			if c.method == "HEAD" {
				status = http.StatusNoContent
			}
			if ill {
				if err := os.WriteFile(off, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				status, want = http.StatusServiceUnavailable, c.ill
				if c.method == "HEAD" {
					media = plain
				}
			}
			a := askHealth(t, s, harness.Call{Method: c.method, Path: c.path, Header: map[string]string{"Accept": c.accept}}, 5000)
			same := a.Body == want || c.media == page && strings.Contains(a.Body, want)
			if a.Status != status || !same || a.Header.Get("Content-Type") != media || a.Header.Get("Vary") != "" {
				t.Errorf("%s %s, %s, disabled %v: %d %v %q, want %d %q %q", c.method, c.path, c.accept, ill, a.Status, a.Header, a.Body, status, media, want)
			}
		}
	}
	_ = os.Remove(off)
	if err := os.WriteFile(off+"5001", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for port, want := range map[int]int{5000: 200, 5001: 503, 5002: 200} {
		if a := askHealth(t, s, harness.Call{Method: "GET", Path: "/healthcheck"}, port); a.Status != want {
			t.Errorf("port %d: %d, want %d", port, a.Status, want)
		}
	}
	for path, want := range map[string]int{"/healthcheckx": 404, "/v3/healthcheck": 404, "/healthcheck//x": 404} {
		if a := s.Do(harness.Call{Method: "GET", Path: path}); a.Status != want {
			t.Errorf("%s: %d, want %d", path, a.Status, want)
		}
	}
}

// TestHealthcheckDetailed: JSON has the keys of Python's answer; neither form
// shows a stack.
func TestHealthcheckDetailed(t *testing.T) {
	s := harness.New(t, harness.Options{Engine: dbtest.Engines()[0], Bare: true, Conf: func(c *conf.Config) {
		c.Healthcheck.Backends, c.Healthcheck.DisableByFilePath, c.Healthcheck.Detailed = []string{"disable_by_file"}, "/none<b>", true
	}})
	a := s.Do(harness.Call{Method: "GET", Path: "/healthcheck", Header: map[string]string{"Accept": "application/json"}})
	var body map[string]any
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 0, len(body))
	for k := range body {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if got := strings.Join(keys, " "); got != "detailed gc greenthreads now platform python_version reasons threads" {
		t.Errorf("keys: %s", got)
	}
	want := `{
            "class": "HealthcheckResult",
            "details": "Path '/none<b>' was not found",
            "reason": "OK"
        }`
	if !strings.Contains(a.Body, want) || strings.Contains(a.Body, "goroutine") {
		t.Errorf("body: %s", a.Body)
	}
	a = s.Do(harness.Call{Method: "GET", Path: "/healthcheck", Header: map[string]string{"Accept": "text/html"}})
	if !strings.Contains(a.Body, "Path &#39;/none&lt;b&gt;&#39; was not found") || strings.Contains(a.Body, "goroutine") {
		t.Errorf("HTML: %s", a.Body)
	}
	if a := s.Do(harness.Call{Method: "GET", Path: "/healthcheck"}); a.Body != "OK" {
		t.Errorf("plain: %q", a.Body)
	}
}

// TestHealthcheckForSome: who may not ask is told that there is nothing.
func TestHealthcheckForSome(t *testing.T) {
	s := harness.New(t, harness.Options{Engine: dbtest.Engines()[0], Bare: true, Conf: func(c *conf.Config) {
		c.Healthcheck.AllowedSourceRanges, c.Healthcheck.IgnoreProxiedRequests = []string{"192.0.2.0/24"}, true
	}})
	for _, c := range []struct {
		from, header string
		want         int
	}{{"192.0.2.9:1", "", 200}, {"198.51.100.1:1", "", 404}, {"192.0.2.9:1", "X-Forwarded-For", 404}, {"192.0.2.9:1", "X-Forwarded-Proto", 404}, {"@", "", 404}} {
		call := harness.Call{Method: "GET", Path: "/healthcheck", From: c.from}
		if c.header != "" {
			call.Header = map[string]string{c.header: "x"}
		}
		if a := s.Do(call); a.Status != c.want {
			t.Errorf("from %s, %s: %d, want %d", c.from, c.header, a.Status, c.want)
		}
	}
}
