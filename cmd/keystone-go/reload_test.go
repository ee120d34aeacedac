package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/dbtest"
)

const (
	takenOver = "Configuration and policy were read again"
	refused   = "Configuration not taken over, the last good one stays in use"
)

// lifetime is how long a new token lives.
func (p *process) lifetimeOnce(t *testing.T) time.Duration {
	t.Helper()
	_, body, _, err := p.call("POST", "/v3/auth/tokens", adminLogin, nil)
	var answer struct {
		Token struct {
			Issued  time.Time `json:"issued_at"`
			Expires time.Time `json:"expires_at"`
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.Token.Expires.Sub(answer.Token.Issued).Round(time.Second)
}

// lifetime is the longest of three: a second may pass between the two times of
// a token.
func (p *process) lifetime(t *testing.T) time.Duration {
	return max(p.lifetimeOnce(t), p.lifetimeOnce(t), p.lifetimeOnce(t))
}

// regions is the status of a list that policy may forbid.
func (p *process) services(t *testing.T) int {
	t.Helper()
	token, err := p.login()
	if err != nil {
		t.Fatal(err)
	}
	status, _, _, err := p.call("POST", "/v3/regions", `{"region": {}}`, map[string]string{"X-Auth-Token": token})
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// TestReload: one SIGHUP takes over all kinds of changes, says which, and
// which wait for a restart.
func TestReload(t *testing.T) {
	p := running(t, "[token]", "expiration = 3600", "[oslo_policy]", "policy_file = policy.yaml")
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	if got := s.lifetime(t); got != time.Hour {
		t.Fatalf("tokens live %v", got)
	}
	if status, _ := get(t, s.admin+"/debug/pprof/"); status != http.StatusNotFound {
		t.Errorf("pprof: %d", status)
	}
	p.put(t, "policy.yaml", `"identity:create_region": "!"`)
	p.edit(t, "expiration = 3600", "expiration = 120", "[keystone_go]", "[keystone_go]\npprof = true\nadmin_listen = 127.0.0.1:1\npath_prefix = /identity",
		"[DEFAULT]", "[DEFAULT]\ndebug = true\nadmin_token = hush-hush", "admin_listen = 127.0.0.1:0\n", "")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 1)
	if status, _, _, _ := s.call("GET", "/v3", "", nil); status != http.StatusNotFound {
		t.Errorf("without the new prefix: %d", status)
	}
	s.url += "/identity"
	if got := s.lifetime(t); got != 2*time.Minute {
		t.Errorf("tokens live %v", got)
	}
	if status, _ := get(t, s.admin+"/debug/pprof/"); status != http.StatusOK {
		t.Errorf("pprof: %d", status)
	}
	if got := s.services(t); got != http.StatusForbidden {
		t.Errorf("what the new policy forbids: %d", got)
	}
	log := s.log.String()
	for _, want := range []string{
		"[token] expiration", "[keystone_go] pprof", "[DEFAULT] debug", "[DEFAULT] admin_token",
		"These options take effect at a restart", `options="[keystone_go] admin_listen"`, " DEBUG ",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, tail(log))
		}
	}
	if strings.Contains(log, "hush-hush") {
		t.Error("the log shows a secret")
	}
	if got := s.metric(t, `keystone_config_reloads_total{outcome="success"}`); got != "1" {
		t.Errorf("reloads: %s", got)
	}
}

// TestReloadRefuses: whatever is wrong, the server goes on as it was, says
// every fault, and takes the next good file.
func TestReloadRefuses(t *testing.T) {
	p := running(t, "[token]", "expiration = 3600", "[oslo_policy]", "policy_file = policy.yaml", "[rate_limit_global_ip]", "enabled = false")
	p.put(t, "policy.yaml", "{}")
	good, err := os.ReadFile(p.conf)
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	failures := 0
	for _, x := range []struct {
		what, old, new string
		says           []string
	}{
		{"a line that is none", "[token]", "[token]\nrubbish", []string{"keystone.conf:"}},
		{"two faults", "expiration = 3600", "expiration = soon\nallow_expired_window = never", []string{"expiration", "allow_expired_window"}},
		{"an option that is not known", "[keystone_go]", "[keystone_go]\nlisten_to = x", []string{"listen_to"}},
		{"a limit without numbers", "enabled = false", "enabled = true", []string{"burst_size"}},
		{"no keys", "/fernet-keys", "/none", []string{"key_repository"}},
		{"another provider", "[token]", "[token]\nprovider = jws", []string{"[jwt_tokens]"}},
		{"no database", "/keystone.db", "/none.db", []string{"does not exist"}},
		{"a database that is none", "/keystone.db", "/keystone.conf", []string{"database"}},
		{"a log that cannot be", "[DEFAULT]", "[DEFAULT]\nlog_file = /nowhere/at/all.log", []string{"/nowhere/at/all.log"}},
		{"no certificate", "[keystone_go]", "[keystone_go]\ntls_cert_file = /none.pem\ntls_key_file = /none.key", []string{"tls_cert_file"}},
		{"a key alone", "[keystone_go]", "[keystone_go]\ntls_key_file = /none.key", []string{"need each other"}},
		{"a mode that is none", "[keystone_go]", "[keystone_go]\nsocket_mode = 0999", []string{"socket_mode"}},
		{"a bad network", "[token]", "[rate_limit_trusted_proxies]\ntrusted_proxies = 10.0.0.1/8\n[token]", []string{"trusted_proxies"}},
	} {
		text := strings.Replace(string(good), x.old, x.new, -1)
		text = strings.Replace(text, "expiration = 3600", "expiration = 60", 1)
		p.put(t, "keystone.conf", text)
		at := len(s.log.String())
		s.signal(t, syscall.SIGHUP)
		failures += len(x.says)
		s.says(t, refused, failures)
		time.Sleep(20 * time.Millisecond) // for the last of several lines
		told := s.log.String()[at:]
		for _, want := range x.says {
			if !strings.Contains(told, want) {
				t.Errorf("%s: the log does not say %q:\n%s", x.what, want, told)
			}
		}
		failures = strings.Count(s.log.String(), refused)
		if got := s.lifetime(t); got != time.Hour {
			t.Errorf("%s: tokens live %v", x.what, got)
		}
	}
	p.put(t, "policy.yaml", "[not, a, mapping]")
	p.put(t, "keystone.conf", strings.Replace(string(good), "expiration = 3600", "expiration = 60", 1))
	s.signal(t, syscall.SIGHUP)
	s.says(t, refused, failures+1)
	if got := s.metric(t, "keystone_config_reload_success"); got != "0" || s.lifetime(t) != time.Hour {
		t.Errorf("a broken policy file: success %s, tokens live %v", got, s.lifetime(t))
	}
	p.put(t, "policy.yaml", "{}")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 1)
	if got := s.metric(t, "keystone_config_reload_success"); got != "1" || s.lifetime(t) != time.Minute {
		t.Errorf("a good file at last: success %s, tokens live %v", got, s.lifetime(t))
	}
}

// TestReloadKeepsDebts: a limiter forgets nobody because something else
// changes.
func TestReloadKeepsDebts(t *testing.T) {
	p := running(t, "[token]", "expiration = 3600", "[rate_limit_global_ip]", "enabled = true", "burst_size = 60", "replenish_rate_per_second = 1",
		"[rate_limit_user_auth]", "enabled = true", "burst_size = 100", "replenish_rate_per_second = 100")
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	ask := func() int {
		status, _, _, err := s.call("GET", "/v3/regions", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	flood := func() int {
		for range 200 {
			if got := ask(); got == http.StatusTooManyRequests {
				return got
			}
		}
		return 0
	}
	if flood() != http.StatusTooManyRequests {
		t.Fatal("200 requests are not too many")
	}
	p.edit(t, "expiration = 3600", "expiration = 60", "burst_size = 100", "burst_size = 99")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 1)
	got, again := ask(), 0
	for got != http.StatusTooManyRequests && again < 30 { // what has come back meanwhile
		got, again = ask(), again+1
	}
	if got != http.StatusTooManyRequests {
		t.Errorf("after a reload: %d", got)
	}
	p.edit(t, "burst_size = 60\n", "burst_size = 1000\n")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 2)
	for range 20 {
		if got := ask(); got != http.StatusUnauthorized {
			t.Fatalf("under the new number: %d", got)
		}
	}
}

// TestReloadUnderLoad: signals come fast, every third file is broken, the
// database pool, the limits and the hashing gate change, and no request fails.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	if !long() {
		reloadUnderLoad(t, "sqlite") // no statement is behind it that an engine could change
		return
	}
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) { reloadUnderLoad(t, engine) })
	}
}

func reloadUnderLoad(t *testing.T, engine string) {
	rounds, every := 40, 300*time.Millisecond
	if long() {
		rounds = 200
	}
	p := newPlace(t, "[token]", "expiration = 3600", "[rate_limit_global_ip]", "enabled = true", "burst_size = 100000", "replenish_rate_per_second = 100000")
	if engine != "sqlite" {
		p.edit(t, "sqlite:///"+p.dir+"/keystone.db", dbtest.OpenURL(t, engine))
	}
	p.must(t, "db_sync")
	p.must(t, "fernet_setup")
	p.must(t, "bootstrap", "--bootstrap-password", "s3cret")
	p.edit(t, "connection = ", "max_pool_size = 5\nmax_overflow = 5\nconnection = ")
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	first, err := s.login()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.conf)
	if err != nil {
		t.Fatal(err)
	}
	file := func(i int) (string, int) {
		expiration := 600 + i
		out := strings.Replace(string(text), "expiration = 3600", fmt.Sprint("expiration = ", expiration), 1)
		switch i % 4 {
		case 0: // the pool and the numbers of the limiter
			out = strings.Replace(out, "max_overflow = 5", fmt.Sprint("max_overflow = ", 6+i), 1)
			out = strings.Replace(out, "burst_size = 100000", fmt.Sprint("burst_size = ", 99000-i), 1)
		case 1: // the gate
			out = strings.Replace(out, "[keystone_go]", fmt.Sprint("[keystone_go]\nhash_queue = ", 1000+i), 1)
		case 2: // nothing but the expiration
		case 3:
			return out + "[keystone_go]\nno_such_option = 1\n", 0
		}
		return out, expiration
	}
	var stop atomic.Bool
	var done, failed atomic.Int64
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			token := first
			for !stop.Load() {
				fresh, err := s.login()
				if err == nil {
					err = s.validate(token, fresh)
				}
				if err == nil && c%2 == 0 {
					err = s.validate(fresh, first)
				}
				if err != nil {
					failed.Add(1)
					t.Errorf("client %d: %v", c, err)
					return
				}
				token = fresh
				done.Add(3)
				time.Sleep(5 * time.Millisecond) // others need the machine too
			}
		})
	}
	last, good, bad := 0, 0, 0
	began := time.Now()
	for i := range rounds {
		out, expiration := file(i)
		p.put(t, "keystone.conf", out)
		s.signal(t, syscall.SIGHUP)
		if expiration > 0 {
			last, good = expiration, good+1
			s.says(t, takenOver, good)
		} else {
			bad++
			s.says(t, refused, bad)
		}
		time.Sleep(time.Until(began.Add(time.Duration(i+1) * every)))
	}
	stop.Store(true)
	clients.Wait()
	if got := s.lifetime(t); got != time.Duration(last)*time.Second {
		t.Errorf("tokens live %v, the last good file says %d s", got, last)
	}
	for name, want := range map[string]int{"success": good, "failure": bad} {
		if got := s.metric(t, `keystone_config_reloads_total{outcome="`+name+`"}`); got != fmt.Sprint(want) {
			t.Errorf("%s: %s, want %d", name, got, want)
		}
	}
	open := openFiles(t, s.cmd.Process.Pid)
	t.Logf("figure: %s: %d reloads, %d refused, in %v; %d requests, %d failed; %d files open at the end", engine, good, bad, time.Since(began).Round(time.Second), done.Load(), failed.Load(), open)
	if done.Load() < int64(rounds) {
		t.Errorf("only %d requests", done.Load())
	}
	if open > 100 {
		t.Errorf("%d files are open: old pools are not closed", open)
	}
}

func openFiles(t *testing.T, pid int) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestReopenLog: after a rotation by rename, SIGUSR1 begins the file anew, and
// no line is lost.
func TestReopenLog(t *testing.T) {
	p := running(t)
	log := filepath.Join(p.dir, "keystone.log")
	p.edit(t, "[DEFAULT]", "[DEFAULT]\nuse_stderr = true\nlog_file = "+log)
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	for i := range 3 {
		if err := os.Rename(log, fmt.Sprint(log, ".", i)); err != nil {
			t.Fatal(err)
		}
		s.signal(t, syscall.SIGUSR1)
		s.says(t, "Log files were opened again", i+1)
		if _, err := s.login(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if text, err := os.ReadFile(log); err == nil && strings.Contains(string(text), "POST /v3/auth/tokens") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		text, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(text), "POST /v3/auth/tokens") {
			t.Errorf("round %d: %v: %s", i, err, text)
		}
	}
}

// TestRestartOptionsAreDocumented: docs/daemon.md lists what waits for a
// restart, and nothing else.
func TestRestartOptionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^- `(\\[\\w+\\] \\w+)`").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	want := []string{}
	for _, n := range restartOptions {
		want = append(want, n.String())
	}
	want = append(want, "[keystone_go] tls_cert_file")
	if !slices.Equal(listed, want) {
		t.Errorf("docs/daemon.md lists %q, want %q", listed, want)
	}
}
