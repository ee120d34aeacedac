// Package harness stands a whole server up inside a test: the real object
// graph on a database of its own, reached through its HTTP handler.
package harness

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/logtest"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// Options says what kind of server.
type Options struct {
	Engine  string               // of dbtest.Engines
	URL     string               // a database that is there already, instead of Engine
	DB      db.DB                // the same, open
	Keys    string               // a key folder that is there already
	Conf    func(*conf.Config)   // changes the configuration
	Now     func() time.Time     // the wall clock
	Tick    func() time.Duration // the clock of the limits
	Log     io.Writer            // where the log goes in slog's form; kolla's expressions are held against its lines anyway
	Lines   io.Writer            // where the lines go that are held against them
	Handler slog.Handler         // takes the log as well
	Bare    bool                 // no bootstrap
}

// Password is the bootstrap administrator's.
const Password = "admin-secret"

// Server is a server in a test.
type Server struct {
	*wire.App
	Conf *conf.Config
	// Secrets went through the server by Do and Serve; at the end of the test
	// its log is searched for them.
	Secrets *logtest.Secrets

	t testing.TB
}

// New builds a server; it ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	cfg := conf.Default()
	cfg.Database.Connection = o.URL
	if o.URL == "" && o.DB == nil {
		cfg.Database.Connection = dbtest.OpenURL(t, o.Engine)
	}
	if o.Keys == "" {
		o.Keys = filepath.Join(t.TempDir(), "fernet-keys")
		if err := fernet.Setup(o.Keys, fernet.Owner{UID: -1, GID: -1}); err != nil {
			t.Fatal(err)
		}
	}
	cfg.FernetTokens.KeyRepository, cfg.FernetReceipts.KeyRepository = o.Keys, o.Keys
	rounds := 4
	cfg.Identity.PasswordHashRounds = &rounds
	cfg.KeystoneGo.HashSlots = runtime.GOMAXPROCS(0)
	cfg.Database.MaxPoolSize, cfg.Database.MaxOverflow = 8, 8
	if o.Conf != nil {
		o.Conf(cfg)
	}
	secrets := &logtest.Secrets{}
	handlers := []slog.Handler{olog.New(logtest.Checked(t, o.Lines, secrets), olog.Options{Debug: true})}
	if o.Log != nil {
		handlers = append(handlers, slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if o.Handler != nil {
		handlers = append(handlers, o.Handler)
	}
	log := slog.New(slog.NewMultiHandler(handlers...))
	app, err := wire.Build(context.Background(), cfg, wire.Options{DB: o.DB, Now: o.Now, Tick: o.Tick, Log: log})
	if err != nil {
		t.Fatalf("build the server: %v", err)
	}
	t.Cleanup(app.Close)
	s := &Server{App: app, Conf: cfg, Secrets: secrets, t: t}
	if !o.Bare {
		s.bootstrap()
	}
	return s
}

func (s *Server) bootstrap() {
	s.t.Helper()
	err := wire.Bootstrap(context.Background(), s.DB, s.Users, s.Conf, wire.BootstrapOptions{
		Username: "admin", Password: Password, Project: "admin", Role: "admin", Service: "keystone",
		PublicURL: "http://keystone.test/v3", Region: "RegionOne", ImmutableRoles: true,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON is the body decoded.
func (a Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		t.Fatalf("no JSON: %v: %.300s", err, a.Body)
	}
	return v
}

// At follows keys, and indexes of lists, into the body; nil when one is
// missing.
func (a Answer) At(t testing.TB, path ...any) any {
	t.Helper()
	var v any = a.JSON(t)
	for _, p := range path {
		switch k := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[k]
		case int:
			l, _ := v.([]any)
			if k >= len(l) {
				return nil
			}
			v = l[k]
		}
	}
	return v
}

// Call is a request to be made.
type Call struct {
	Method, Path string
	Body         any // string and []byte as they are, else JSON
	Token        string
	Subject      string
	Header       map[string]string
	From         string // peer address, 192.0.2.1:4711 when empty
}

// Do makes a call on the handler, without a network.
func (s *Server) Do(c Call) Answer {
	s.t.Helper()
	text, err := c.body()
	if err != nil {
		s.t.Fatal(err)
	}
	s.Secrets.AddBody(text)
	return s.Serve(c.Request(s.t))
}

// Serve answers a request, without a network.
func (s *Server) Serve(r *http.Request) Answer {
	w := httptest.NewRecorder()
	s.handedOver(r.Header)
	s.Handler.ServeHTTP(w, r)
	s.handedOver(w.Header())
	return Answer{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

// handedOver notes the secrets of a head.
func (s *Server) handedOver(h http.Header) {
	for _, name := range []string{"X-Auth-Token", "X-Subject-Token", "X-Service-Token", "Openstack-Auth-Receipt"} {
		for _, text := range h.Values(name) {
			s.Secrets.Add("token", text)
		}
	}
}

// body is what is sent.
func (c Call) body() (string, error) {
	switch b := c.Body.(type) {
	case nil:
		return "", nil
	case string:
		return b, nil
	case []byte:
		return string(b), nil
	}
	text, err := json.Marshal(c.Body)
	return string(text), err
}

// Request makes the HTTP request of a call.
func (c Call) Request(t testing.TB) *http.Request {
	t.Helper()
	var body io.Reader
	if c.Body != nil {
		text, err := c.body()
		if err != nil {
			t.Fatal(err)
		}
		body = strings.NewReader(text)
	}
	r := httptest.NewRequest(c.Method, "http://keystone.test"+c.Path, body)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("X-Auth-Token", c.Token)
	}
	if c.Subject != "" {
		r.Header.Set("X-Subject-Token", c.Subject)
	}
	for k, v := range c.Header {
		r.Header.Set(k, v)
	}
	if c.From != "" {
		r.RemoteAddr = c.From
	}
	return r
}

// M is short for a JSON object.
type M = map[string]any

// Login is the body of a password login by name in the default domain; scope
// may be nil.
func Login(name, password string, scope any) M {
	auth := M{"identity": M{"methods": []string{"password"}, "password": M{"user": M{
		"name": name, "domain": M{"id": "default"}, "password": password,
	}}}}
	if scope != nil {
		auth["scope"] = scope
	}
	return M{"auth": auth}
}

// OnProject is the scope of a project of the default domain.
func OnProject(name string) M { return M{"project": M{"name": name, "domain": M{"id": "default"}}} }

// Token logs in and gives the token.
func (s *Server) Token(name, password string, scope any) string {
	s.t.Helper()
	a := s.Do(Call{Method: "POST", Path: "/v3/auth/tokens", Body: Login(name, password, scope)})
	if a.Status != http.StatusCreated {
		s.t.Fatalf("login of %s: %d %s", name, a.Status, a.Body)
	}
	return a.Header.Get("X-Subject-Token")
}

// Admin gives a project-scoped token of the bootstrap administrator.
func (s *Server) Admin() string {
	s.t.Helper()
	return s.Token("admin", Password, OnProject("admin"))
}

// Testdata is a file below test/testdata, wherever the test runs.
func Testdata(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "testdata", name)
}

// Keys copies the recorded key folder, with the modes that git does not keep.
func Keys(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := os.CopyFS(dir, os.DirFS(Testdata("peer/fernet-keys"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
