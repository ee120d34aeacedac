package test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

// crossing is what Python Keystone 30.0.0 answered: testdata/cors/record.py.
type crossing struct {
	Confs   map[string]string
	Answers []struct {
		Conf, Method, Path, Href string
		Request, Headers         map[string]string
		Status                   int
	}
}

// configured is a server with a text as its configuration beside what the test
// needs.
func configured(t *testing.T, text string) *harness.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keystone.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := conf.Load(conf.Sources{Files: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	return harness.New(t, harness.Options{Engine: "sqlite", Conf: func(c *conf.Config) {
		c.CORS, c.OsloMiddleware, c.Default.PublicEndpoint = cfg.CORS, cfg.OsloMiddleware, cfg.Default.PublicEndpoint
	}})
}

// ownLinks are where Python makes links that are none.
var ownLinks = map[string]string{
	"https, http://keystone.test:5000/v3/":    "http://keystone.test:5000/v3/",  // the nearest proxy's word
	"http,https://keystone.test:5000/v3/":     "https://keystone.test:5000/v3/", // likewise
	"http://a.example, b.example/v3/":         "http://b.example/v3/",           // likewise
	`"https"://"api.example:8443"/v3/`:        "https://api.example:8443/v3/",   // quotes as RFC 7239 has them
	"http://keystone.test:5000/identity//v3/": "http://keystone.test:5000/identity/v3/",
}

// TestCrossOriginAsPython holds every header about origins, and every link
// behind proxies, against what Python Keystone answered.
func TestCrossOriginAsPython(t *testing.T) {
	text, err := os.ReadFile("testdata/cors/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded crossing
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	servers := map[string]*harness.Server{}
	for name, text := range recorded.Confs {
		servers[name] = configured(t, text)
	}
	compared := 0
	for _, want := range recorded.Answers {
		call := harness.Call{Method: want.Method, Path: want.Path, Header: want.Request}.Request(t)
		call.Host = "keystone.test:5000"
		got := servers[want.Conf].Serve(call)
		if got.Status != want.Status {
			t.Errorf("%s: %s %s %v: status %d, want %d", want.Conf, want.Method, want.Path, want.Request, got.Status, want.Status)
		}
		for _, name := range []string{
			"Vary", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
			"Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
		} {
			compared++
			values := got.Header.Values(name)
			if text := strings.Join(values, "|"); len(values) > 1 || text != want.Headers[name] {
				t.Errorf("%s: %s %s %v: %s: %q, want %q", want.Conf, want.Method, want.Path, want.Request, name, text, want.Headers[name])
			}
		}
		if want.Method == "OPTIONS" {
			compared++
			if g, w := optionsHeaders(got), slices.Sorted(maps.Keys(want.Headers)); !slices.Equal(g, w) {
				t.Errorf("%s: OPTIONS %s %v: headers %q, want %q", want.Conf, want.Path, want.Request, g, w)
			}
		}
		if want.Href != "" {
			compared++
			if own, ok := ownLinks[want.Href]; ok {
				want.Href = own
			}
			if href := got.At(t, "version", "links", 0, "href"); href != want.Href {
				t.Errorf("%s: %v: link %v, want %s", want.Conf, want.Request, href, want.Href)
			}
		}
	}
	if compared < 5000 {
		t.Errorf("only %d things were compared", compared)
	}
	t.Logf("%d things are equal in %d answers", compared, len(recorded.Answers))
}

// optionsHeaders are the names of an answer's headers as the recording keeps
// them.
func optionsHeaders(a harness.Answer) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		if name != "Allow" {
			names = append(names, name)
		}
	}
	return names
}
