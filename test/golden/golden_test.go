package golden

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// groups are the recordings of what is served.
var groups = regexp.MustCompile(`^\d+-(disc|auth|tok)-`)

// between are the writes among them that later recordings depend on.
var between = regexp.MustCompile(`^\d+-(disable-user|password-ok|patch-user)`)

// listed is a recording that may differ, and why.
type listed struct {
	Name   string
	List   string // "since Zed": upstream changed; "divergence": on purpose
	Reason string // what changed, or the entry of docs/divergences.md
}

func load(t *testing.T) []Exchange {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.Testdata("peer/golden"), "[0-9]*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []Exchange
	for _, f := range files {
		name := filepath.Base(f)
		if !groups.MatchString(name) && !between.MatchString(name) {
			continue
		}
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var x Exchange
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x.Name = strings.TrimSuffix(name, ".json")
		out = append(out, x)
	}
	return out
}

func lists(t *testing.T) map[string]listed {
	t.Helper()
	raw, err := os.ReadFile("listed.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(harness.Testdata("../../docs/divergences.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]listed{}
	for _, l := range all {
		switch {
		case l.List == "since Zed" && l.Reason != "":
		case l.List == "divergence" && strings.Contains(string(page), "\n## "+l.Reason+" "):
		default:
			t.Errorf("%s: list %q, reason %q: no such list, or no such entry", l.Name, l.List, l.Reason)
		}
		out[l.Name] = l
	}
	return out
}

// least is how many recordings must be compared on each engine.
const least = 120

// TestGolden holds the answers against those that a Python Keystone 22.0.2
// gave to the same requests on the same database with the same keys.
func TestGolden(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) { replay(t, engine) })
	}
}

func replay(t *testing.T, engine string) {
	s := harness.New(t, harness.Options{
		URL: dbtest.RecordedURL(t, engine), Keys: harness.Keys(t), Bare: true,
		Conf: func(c *conf.Config) {
			c.Auth.Methods = []string{"external", "password", "token", "oauth1", "mapped", "application_credential", "totp"}
			c.Token.Expiration, c.Receipt.Expiration = 1892160000, 86400
		},
	})
	known := lists(t)
	used := map[string]bool{}
	count := map[string]int{}
	for _, x := range load(t) {
		diffs := x.differences(send(s, x))
		if !groups.MatchString(x.Name) {
			continue
		}
		count["compared"]++
		l, isListed := known[x.Name]
		used[x.Name] = isListed
		switch {
		case len(diffs) == 0 && isListed:
			t.Errorf("%s is listed (%s) and does not differ: take it off", x.Name, l.List)
		case len(diffs) == 0:
			count["equal"]++
		case isListed:
			count["listed"]++
			count[l.List]++
		default:
			t.Errorf("%s: %s %s\n  %s", x.Name, x.Request.Method, x.Request.Path, strings.Join(diffs, "\n  "))
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("%s is listed and was not compared", name)
		}
	}
	t.Logf("%s: %d compared, %d equal, %d listed (since Zed %d, divergence %d)", engine,
		count["compared"], count["equal"], count["listed"], count["since Zed"], count["divergence"])
	if count["compared"] < least {
		t.Errorf("%d compared, want at least %d", count["compared"], least)
	}
}

func send(s *harness.Server, x Exchange) answer {
	body := x.body()
	r := httptest.NewRequest(x.Request.Method, "http://127.0.0.1:5000/", strings.NewReader(body))
	path, query, _ := strings.Cut(x.Request.Path, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	r.RequestURI = x.Request.Path
	if body == "" {
		r.Body, r.ContentLength = nil, 0
	}
	for k, v := range x.Request.Headers {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return answer{status: w.Code, header: w.Header().Get, body: w.Body.String()}
}
