package policy_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
)

// desk is an engine over a directory of its own, with a clock and a log.
type desk struct {
	*policy.Engine
	t   *testing.T
	dir string
	now atomic.Int64 // nanoseconds
	log lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take gives what was logged and forgets it.
func (l *lockedBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

// open makes an engine as the defaults of [oslo_policy] do, over the files.
func open(t *testing.T, cfg policy.Config, files map[string]string) (*desk, error) {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	for name, text := range files {
		d.write(name, text)
	}
	if cfg.PolicyFile == "" {
		cfg.PolicyFile, cfg.PolicyDirs = "policy.yaml", []string{"policy.d"}
	}
	cfg.DefaultRule = "default"
	cfg.Now = func() time.Time { return time.Unix(0, d.now.Load()) }
	cfg.Log = slog.New(slog.NewTextHandler(&d.log, nil))
	var err error
	d.Engine, err = policy.New(cfg, []string{filepath.Join(d.dir, "absent"), d.dir})
	return d, err
}

func must(t *testing.T, cfg policy.Config, files map[string]string) *desk {
	t.Helper()
	d, err := open(t, cfg, files)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) later() { d.now.Add(int64(time.Second)) }

// want asserts what the caller with the roles may do.
func (d *desk) want(allowed bool, rule string, roles ...string) {
	d.t.Helper()
	d.wantFor(allowed, rule, policy.Credentials{"user_id": "u1", "project_id": "p1", "domain_id": nil, "roles": roles}, nil)
}

func (d *desk) wantFor(allowed bool, rule string, creds policy.Credentials, target policy.Target) {
	d.t.Helper()
	err := d.Enforce(d.t.Context(), rule, creds, target)
	if allowed && err != nil {
		d.t.Errorf("%s for %v: got %v, want it allowed", rule, creds, err)
	}
	refusal := fmt.Sprintf("You are not authorized to perform the requested action: %s.", rule)
	if !allowed && (!fault.Is(err, fault.Forbidden) || err.Error() != refusal) {
		d.t.Errorf("%s for %v: got %v, want %q", rule, creds, err, refusal)
	}
}

const getUser, listUsers, createRegion = "identity:get_user", "identity:list_users", "identity:create_region"

func TestEnforceDefaults(t *testing.T) {
	d := must(t, policy.Config{EnforceNewDefaults: true}, nil)
	d.want(true, createRegion, "admin")
	d.want(true, createRegion, "Admin")
	d.want(false, createRegion, "member")
	d.want(false, createRegion)
	d.want(false, "identity:no_such_rule", "admin")
	d.want(false, "", "admin")
	d.want(false, "default", "admin")
	own := policy.Credentials{"user_id": "u1", "roles": []string{}, "token": map[string]any{}}
	d.wantFor(true, getUser, own, policy.Target{"target.user.id": "u1"})
	d.wantFor(false, getUser, own, policy.Target{"target.user.id": "u2", "user_id": "u1", "request_body.target.user.id": "u1"})
	if got := d.log.take(); got != "" {
		t.Errorf("logged: %s", got)
	}
}

func TestAdminToken(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{"policy.yaml": `"identity:list_users": "is_admin_token:False or is_admin_token:True"`})
	for _, c := range []struct {
		value any
		want  bool
	}{{true, true}, {false, false}, {"true", false}, {nil, false}, {1, false}} {
		creds := policy.Credentials{policy.AdminToken: c.value, "roles": []string{}}
		d.wantFor(c.want, listUsers, creds, nil)
		d.wantFor(c.want, "identity:no_such_rule", creds, nil)
		if _, there := creds[policy.AdminToken]; !there {
			t.Error("Enforce changed the credentials")
		}
	}
}

func TestScopeTypes(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{"policy.yaml": `
"identity:create_trust": "@"
"identity:get_region": ""
"identity:create_region": "rule:identity:create_trust"
"identity:get_auth_catalog": "@"
`})
	system := policy.Credentials{"system_scope": "all", "domain_id": nil}
	system2 := policy.Credentials{"system": "all"}
	domain := policy.Credentials{"domain_id": "d1", "system_scope": nil}
	project := policy.Credentials{"project_id": "p1", "domain_id": nil, "system_scope": nil}
	unscoped := policy.Credentials{"project_id": nil, "domain_id": nil, "system_scope": nil}
	for _, c := range []struct {
		rule                              string
		system, domain, project, unscoped bool
	}{
		{"identity:create_trust", false, false, true, true}, // project alone
		{"identity:get_region", true, true, true, true},
		{"identity:create_region", true, false, true, true}, // system and project; references do not ask
		{"identity:get_auth_catalog", true, true, true, true},
	} {
		d.wantFor(c.system, c.rule, system, nil)
		d.wantFor(c.system, c.rule, system2, nil)
		d.wantFor(c.domain, c.rule, domain, nil)
		d.wantFor(c.project, c.rule, project, nil)
		d.wantFor(c.unscoped, c.rule, unscoped, nil)
	}
}

func TestDeprecatedForms(t *testing.T) {
	owner := policy.Credentials{"user_id": "u1", "roles": []string{}}
	target := policy.Target{"user_id": "u1"}
	// identity:get_user was rule:admin_or_owner, which looks at the path.
	must(t, policy.Config{EnforceNewDefaults: true}, nil).wantFor(false, getUser, owner, target)
	must(t, policy.Config{}, nil).wantFor(true, getUser, owner, target)
	file := map[string]string{"policy.yaml": `"identity:get_user": "role:admin"`}
	must(t, policy.Config{}, file).wantFor(false, getUser, owner, target)
}

func TestRenamedRules(t *testing.T) {
	defer func(before []policy.Rule) { policy.Own = before }(policy.Own)
	policy.Own = []policy.Rule{{
		Name: "keystone_go:new", Check: "role:new",
		Deprecated: &policy.Deprecated{Name: "keystone_go:old", Check: "role:old"},
	}}
	for _, c := range []struct {
		file          string
		newDefaults   bool
		new, old, own bool // who gets in: role:new, role:old, role:own
	}{
		{``, true, true, false, false},
		{``, false, true, true, false},
		{`"keystone_go:old": "role:own"`, true, false, false, true},
		{`"keystone_go:old": "role:own"`, false, false, false, true},
		{`"keystone_go:old": "role:old"`, true, true, false, false},
		{`"keystone_go:old": "role:old"`, false, true, true, false},
		{`"keystone_go:old": "rule:keystone_go:new"`, true, true, false, false},
		{`{"keystone_go:old": "role:own", "keystone_go:new": "role:new"}`, false, true, false, false},
	} {
		d := must(t, policy.Config{EnforceNewDefaults: c.newDefaults}, map[string]string{"policy.yaml": c.file})
		d.want(c.new, "keystone_go:new", "new")
		d.want(c.old, "keystone_go:new", "old")
		d.want(c.own, "keystone_go:new", "own")
		d.want(false, "keystone_go:old", "new", "old", "own") // no longer registered
		if t.Failed() {
			t.Fatalf("file %s, new defaults %v", c.file, c.newDefaults)
		}
	}
}

func TestAlways(t *testing.T) {
	for text, want := range map[string]bool{"": true, "@": true, "[]": true, "null": true, "role:admin": false, "not !": false} {
		if text == "" || text[0] == '@' || text[0] == 'r' {
			text = `"` + text + `"`
		}
		d := must(t, policy.Config{}, map[string]string{"policy.yaml": `"identity:list_trusts": ` + text})
		if got := d.Always("identity:list_trusts"); got != want {
			t.Errorf("Always with override %s: got %v, want %v", text, got, want)
		}
	}
	if must(t, policy.Config{}, nil).Always("identity:list_trusts") {
		t.Error("Always by default: got true")
	}
}

// A rule is the default as long as neither it nor what it refers to is written
// over.
func TestDefault(t *testing.T) {
	const rule = "identity:get_credential"
	for _, c := range []struct {
		file        string
		newDefaults bool
		want        bool
	}{
		{`{}`, true, true},
		{`{}`, false, true},
		{`{"identity:list_users": "role:x"}`, true, true},
		{`{"identity:get_credential": "rule:admin_required"}`, true, false},
		{`{"admin_required": "role:admin and project_id:%(target.credential.project_id)s"}`, true, false},
		{`{"admin_required": "role:other"}`, false, false},
		{`{"identity:get_credential": "(rule:admin_required) or (role:reader and system_scope:all) or user_id:%(target.credential.user_id)s"}`, true, true},
	} {
		d := must(t, policy.Config{EnforceNewDefaults: c.newDefaults}, map[string]string{"policy.yaml": c.file})
		if got := d.Default(rule); got != c.want {
			t.Errorf("%s, new defaults %v: %v", c.file, c.newDefaults, got)
		}
	}
	if must(t, policy.Config{}, nil).Default("nobody:has_it") {
		t.Error("a rule that nobody has is the default")
	}
}

// A rule that Python would stop at refuses, and says so in the log.
func TestBrokenRules(t *testing.T) {
	d := must(t, policy.Config{}, map[string]string{"policy.yaml": `{
"identity:list_users": "not user_id:50%",
"identity:get_user": "rule:identity:get_user",
"identity:get_region": "rule:nowhere",
"identity:list_regions": "role:admin and"}`})
	for _, want := range []string{
		"identity:get_user refers to itself", "identity:get_region refers to nowhere", `rule=identity:list_regions error="rule \"role:admin and\"`,
	} {
		if got := d.log.b.String(); !strings.Contains(got, want) {
			t.Errorf("loading logged\n%s want %q in it", got, want)
		}
	}
	d.log.take()
	for _, rule := range []string{listUsers, getUser, "identity:get_region", "identity:list_regions"} {
		d.want(false, rule, "admin")
	}
	if got := d.log.take(); strings.Count(got, "policy decision refused") != 2 {
		t.Errorf("decisions logged\n%s want two refusals with their reason", got)
	}
}

func TestTargetAdd(t *testing.T) {
	target := policy.Target{"user_id": "u1"}
	target.Add("target.user", map[string]any{
		"id": "u2", "domain": map[string]any{"id": "d1", "inner": map[string]any{"x": nil}}, "empty": map[string]any{}, "list": []any{map[string]any{"a": 1}},
	})
	want := policy.Target{
		"user_id": "u1", "target.user.id": "u2", "target.user.domain.id": "d1", "target.user.domain.inner.x": nil,
		"target.user.list": []any{map[string]any{"a": 1}},
	}
	if fmt.Sprint(target) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", target, want)
	}
}

// What a client sends stays under its prefix, whatever its keys are called.
func TestTargetAddObject(t *testing.T) {
	body, err := pyjson.DecodeObject([]byte(`{"user": {"id": "u1", "n": 5, "list": [{"a": 1}]}, "user_id": "u1", "target.user.id": "u1", "target": {"user": {"id": "u1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	target := policy.Target{"user_id": "u2", "target.user.id": "u2"}
	target.AddObject("request_body", body)
	d := must(t, policy.Config{}, map[string]string{"policy.yaml": `{
"identity:update_user": "5:%(request_body.user.n)s and user_id:%(request_body.user.id)s",
"identity:delete_user": "user_id:%(user_id)s or user_id:%(target.user.id)s"}`})
	creds := policy.Credentials{"user_id": "u1"}
	d.wantFor(true, "identity:update_user", creds, target)
	d.wantFor(false, "identity:delete_user", creds, target)
	if got := fmt.Sprint(target["request_body.user.list"]); got != "[map[a:1]]" {
		t.Errorf("the list is %s, want it with plain maps", got)
	}
}

func BenchmarkEnforce(b *testing.B) {
	e, err := policy.New(policy.Config{EnforceNewDefaults: true, PolicyFile: "policy.yaml", Now: time.Now}, []string{b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	creds := policy.Credentials{"user_id": "u1", "roles": []string{"member", "reader"}, "project_id": "p1", "domain_id": nil, "system_scope": nil, "token": map[string]any{}}
	target := policy.Target{"user_id": "u1", "target.user.id": "u1", "target.user.domain_id": "d1"}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Enforce(b.Context(), getUser, creds, target); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := policy.New(policy.Config{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
