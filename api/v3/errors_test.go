package v3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/ratelimit"
)

type later struct{}

func (later) Error() string          { return "later" }
func (later) RetryAfterSeconds() int { return 9 }

func TestErrors(t *testing.T) {
	const (
		unauthorized = "The request you have made requires authentication."
		forbidden    = "You are not authorized to perform the requested action."
		internal     = "An unexpected error prevented the server from fulfilling your request."
		suffix       = " (Disable insecure_debug mode to suppress these details.)"
	)
	envelope := func(code int, message, title string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"title":%q}}`+"\n", code, message, title)
	}
	cases := []struct {
		name        string
		err         error
		want, debug string
		header      map[string]string
	}{
		{"not found", fault.NoSuch("region", `a"é`), `{"error":{"code":404,"message":"Could not find region: a\"\u00e9.","title":"Not Found"}}` + "\n", "", nil},
		{"wrapped", fmt.Errorf("x: %w", fault.New(fault.Conflict, "conflict with x")), envelope(409, "conflict with x", "Conflict"), "", nil},
		{"denied", fault.Denied("user u1 is disabled"), envelope(401, unauthorized, "Unauthorized"), envelope(401, "user u1 is disabled"+suffix, "Unauthorized"), map[string]string{"WWW-Authenticate": `Keystone uri="http://127.0.0.1:5000/v3"`}},
		{"refused", fault.Refused("no trust"), envelope(403, forbidden, "Forbidden"), envelope(403, "no trust"+suffix, "Forbidden"), map[string]string{"WWW-Authenticate": ""}},
		{"action", fault.ForbiddenAction("identity:x"), envelope(403, "You are not authorized to perform the requested action: identity:x.", "Forbidden"), "", nil},
		{"anything", fmt.Errorf("list regions: %w", errAny), envelope(500, internal, "Internal Server Error"), envelope(500, strings.TrimSuffix(internal, ".")+": list regions: the disk is on fire."+suffix, "Internal Server Error"), map[string]string{"Retry-After": ""}},
		{"busy", fmt.Errorf("hash: %w", &passhash.Busy{RetryAfter: 2500 * time.Millisecond}), envelope(503, "The service is busy. Try again later.", "Service Unavailable"), "", map[string]string{"Retry-After": "3"}},
		{"busy at once", &passhash.Busy{}, envelope(503, "The service is busy. Try again later.", "Service Unavailable"), "", map[string]string{"Retry-After": "1"}},
		{"later", later{}, envelope(503, "The service is busy. Try again later.", "Service Unavailable"), "", map[string]string{"Retry-After": "9"}},
		{"lost against others again and again", fmt.Errorf("write: %w", db.ErrSerialize), envelope(503, "The service is busy. Try again later.", "Service Unavailable"), "", map[string]string{"Retry-After": "1"}},
		{"no database", fmt.Errorf("read: %w", db.ErrUnavailable), envelope(503, "The service is busy. Try again later.", "Service Unavailable"), "", map[string]string{"Retry-After": "1"}},
		{"bad value", fmt.Errorf("read: %w", db.ErrBadValue), envelope(400, "The request holds a value that cannot be stored.", "Bad Request"), "", nil},
		{"methods", &fault.Error{Kind: fault.Unauthorized, Message: unauthorized, Identity: map[string]any{"methods": []string{"password", "token"}}}, `{"error":{"code":401,"identity":{"methods":["password","token"]},"message":"` + unauthorized + `","title":"Unauthorized"}}` + "\n", "", nil},
		{"receipt", &fault.Error{Kind: fault.Unauthorized, Plain401: true, Message: "more methods are needed", Body: map[string]any{"receipt": 1}, Header: map[string]string{"Openstack-Auth-Receipt": "r"}}, `{"receipt": 1}`, "", map[string]string{"Openstack-Auth-Receipt": "r", "WWW-Authenticate": ""}},
		{"gone", fault.New(fault.Gone, "gone for good"), envelope(410, "gone for good", "Gone"), "", nil},
		{"not built", fault.New(fault.NotImplemented, "not built yet"), envelope(501, "not built yet", "Not Implemented"), "", nil},
	}
	for _, c := range cases {
		for _, debug := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/debug=%v", c.name, debug), func(t *testing.T) {
				st := newStand(t, setup{change: func(cfg *v3.Config) { cfg.InsecureDebug = debug }, rows: open(func(*v3.Call) (v3.Reply, error) { return v3.Reply{}, c.err })})
				w := st.do(call{method: "POST", path: "/v3/open"})
				want := c.want
				if debug && c.debug != "" {
					want = c.debug
				}
				if w.Body.String() != want {
					t.Errorf("got %s, want %s", w.Body, want)
				}
				for k, v := range c.header {
					if got := w.Header().Get(k); got != v {
						t.Errorf("%s: got %q, want %q", k, got, v)
					}
				}
				if lines := strings.Count(st.log.String(), c.err.Error()); lines != 1 {
					t.Errorf("logged %d times:\n%s", lines, st.log)
				}
			})
		}
	}
}

func TestValidationFails(t *testing.T) {
	st := newStand(t, setup{rows: guarded(fine)})
	st.tokens.fail = errAny
	w := st.do(call{path: "/v3/guarded", token: "tok-admin"})
	wantEnvelope(t, w.Result(), w.Body.String(), http.StatusInternalServerError)
}

func TestNewRefuses(t *testing.T) {
	good := v3.Route{Method: "GET", Path: "/v3/x", Rule: "identity:list_regions", Limit: ratelimit.ClassToken, Do: fine}
	var cfg v3.Config
	newStand(t, setup{rows: []v3.Route{good}, change: func(c *v3.Config) { cfg = *c }})
	for name, change := range map[string]func(*v3.Route){
		"method":                  func(r *v3.Route) { r.Method = "" },
		"path":                    func(r *v3.Route) { r.Path = "x" },
		"do":                      func(r *v3.Route) { r.Do = nil },
		"limit":                   func(r *v3.Route) { r.Limit = "none" },
		"rule":                    func(r *v3.Route) { r.Rule = v3.Open },
		"exempt without a reason": func(r *v3.Route) { r.Rule, r.Limit = v3.Open, ratelimit.ClassExempt },
		"exempt with a rule":      func(r *v3.Route) { r.Limit, r.Exempt = ratelimit.ClassExempt, "x" },
	} {
		r := good
		change(&r)
		cfg.Routes = []v3.Route{r}
		if _, err := v3.New(cfg); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	cfg.Routes = []v3.Route{good, good}
	if _, err := v3.New(cfg); err == nil {
		t.Error("the same row twice: taken")
	}
	cfg.Routes, cfg.Auth = []v3.Route{good}, nil
	if _, err := v3.New(cfg); err == nil {
		t.Error("without authentication: taken")
	}
}
