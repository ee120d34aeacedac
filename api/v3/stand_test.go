package v3_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
	"github.com/keystone-go/keystone-go/resource"
)

// tokens stands in for the token service: "tok-" and a word are tokens of this
// cloud, anything else is none.
type tokens struct {
	mu        sync.Mutex
	validated int // how often a database would have been asked
	last      auth.Check
	fail      error
}

func (*tokens) Decodes(id string) (auth.Opened, bool) {
	return auth.Opened{}, strings.HasPrefix(id, "tok-")
}

func (s *tokens) Validate(_ context.Context, c auth.Check) (auth.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.validated++
	s.last = c
	var r auth.Result
	switch c.Caller {
	case "tok-admin":
		r.Caller = holder("admin")
	case "tok-member", "tok-service":
		r.Caller = holder(strings.TrimPrefix(c.Caller, "tok-"))
	case "tok-appcred":
		r.Caller = holder("member")
		r.Caller.Token.AppCredID = "ac1"
	case "tok-gone":
		r.Refused = fault.NoSuch("project", "p1")
	}
	if c.Subject != "" {
		r.Subject = holder("member")
	}
	return r, s.fail
}

func (s *tokens) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.validated
}

// holder is a project-scoped identity with one role.
func holder(role string) *auth.Identity {
	d := resource.Domain{ID: "default", Name: "Default", Enabled: true}
	return &auth.Identity{
		ID:      "tok-" + role,
		Token:   &token.Token{UserID: "u-" + role, ProjectID: "p1", Methods: []string{"password"}},
		User:    auth.User{ID: "u-" + role, Name: role, DomainID: "default", DomainName: "Default"},
		Project: &resource.Project{ID: "p1", Name: "p1", DomainID: "default", Domain: d, Enabled: true},
		Roles:   []assignment.Role{{ID: "r-" + role, Name: role}},
	}
}

// stand is a server with everything around it in the hand of the test.
type stand struct {
	t      testing.TB
	api    *v3.API
	tokens *tokens
	log    *bytes.Buffer
	clock  time.Duration // of the limits
	folds  bool          // the database takes letters of another case for the same
	mu     sync.Mutex
	// outcomes count what limiters decided: "rate_limit_default allowed".
	outcomes map[string]int
}

type setup struct {
	db     db.DB
	rows   []v3.Route       // in place of the table
	burst  int              // of the limit by address, 1 a second; 0: no limit
	limits ratelimit.Config // beside it
	// observe is told of decisions in place of stand.outcomes.
	observe func(limiter, outcome string)
	change  func(*v3.Config)
}

func newStand(t testing.TB, s setup) *stand {
	t.Helper()
	st := &stand{t: t, tokens: &tokens{}, log: &bytes.Buffer{}, outcomes: map[string]int{}, folds: s.db != nil && !dbtest.Exact(s.db)}
	rules, err := policy.New(policy.Config{EnforceNewDefaults: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := clientaddr.New(clientaddr.Config{})
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	var metrics *ops.Metrics
	s.limits.GlobalIP = ratelimit.Section{Enabled: s.burst > 0, Burst: &s.burst, Rate: &one}
	s.limits.Now = func() time.Duration { return st.clock }
	s.limits.Observe = func(limiter, outcome string) {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.outcomes[limiter+" "+outcome]++
		metrics.Limit("per_ip", outcome)
	}
	if s.observe != nil {
		s.limits.Observe = s.observe
	}
	limits, _, err := ratelimit.Build(s.limits, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limits.Close)
	cfg := v3.Config{
		Auth: st.tokens, Policy: rules, Limits: limits, Clients: clients, MaxBody: 114688, Now: time.Now,
		Log: slog.New(olog.New(&lockedWriter{w: st.log}, olog.Options{Debug: true})), Routes: s.rows,
	}
	if s.rows == nil {
		cfg.Routes = v3.Table(resources(t, s.db))
	}
	if s.change != nil {
		s.change(&cfg)
	}
	metrics = cfg.Metrics
	if st.api, err = v3.New(cfg); err != nil {
		t.Fatal(err)
	}
	return st
}

type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// call is one request; its zero value is GET / from 192.0.2.1.
type call struct {
	method, path, token, body string
	header                    map[string]string
	peer                      string
}

func (c call) request(t testing.TB) *http.Request {
	t.Helper()
	if c.method == "" {
		c.method = http.MethodGet
	}
	r := httptest.NewRequestWithContext(t.Context(), c.method, "http://127.0.0.1:5000"+c.path, strings.NewReader(c.body))
	r.RemoteAddr = "192.0.2.1:4711"
	if c.peer != "" {
		r.RemoteAddr = c.peer
	}
	if c.body == "" {
		r.Body = http.NoBody
	}
	if c.token != "" {
		r.Header.Set("X-Auth-Token", c.token)
	}
	for k, v := range c.header {
		if k == "Host" {
			r.Host = v
		}
		r.Header.Set(k, v)
	}
	return r
}

func (s *stand) do(c call) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, c.request(s.t))
	return w
}

// open and guarded are rows for tests of the pipeline.
func open(do func(*v3.Call) (v3.Reply, error)) []v3.Route {
	return []v3.Route{{Method: "POST", Path: "/v3/open", Limit: ratelimit.ClassAuth, Do: do}}
}

func guarded(do func(*v3.Call) (v3.Reply, error)) []v3.Route {
	return []v3.Route{{Method: "GET", Path: "/v3/guarded", Rule: "identity:list_regions", Limit: ratelimit.ClassToken, Do: do}}
}

func fine(*v3.Call) (v3.Reply, error) {
	return v3.Reply{Status: http.StatusOK, Body: map[string]any{"fine": true}}, nil
}

var errAny = errors.New("the disk is on fire")
