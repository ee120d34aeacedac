package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/logtest"
)

// beTheProgram makes the test binary run main, so that tests can start the
// program as a process and send it real signals.
const beTheProgram = "KEYSTONE_GO_TEST_BE_THE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(beTheProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// long reports whether tests of time take their full time.
func long() bool { return os.Getenv("KEYSTONE_GO_LONG") != "" }

// process is the program as a process of its own.
type process struct {
	cmd        *exec.Cmd
	log        *buffer
	url, admin string
	client     *http.Client
	ended      chan error
	secrets    logtest.Secrets // that went through it
}

// servesLine names the first of several addresses.
var servesLine = regexp.MustCompile(`Serving listen="?\[([^\s\]]+).*\]"? admin_listen=\[(\S*)\]`)

// launch starts a process that serves, under sh so that the environment may
// hold its id: $$.
func launch(t *testing.T, env []string, extra []*os.File, args ...string) *process {
	t.Helper()
	script := ""
	for _, e := range env {
		script += "export " + e + "; "
	}
	p := &process{log: &buffer{}, ended: make(chan error, 1)}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", script + `exec "$0" "$@"`, os.Args[0]}, args...)...)
	p.cmd.Env = append(os.Environ(), beTheProgram+"=1")
	p.cmd.Stderr, p.cmd.ExtraFiles = p.log, extra
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { p.end(t) })
	for range 1500 {
		if m := servesLine.FindStringSubmatch(p.log.String()); m != nil {
			p.reach(m[1], m[2])
			return p
		}
		select {
		case err := <-p.ended:
			p.ended = nil
			t.Fatalf("%v ended before it served: %v\n%s", args, err, p.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatalf("%v does not serve:\n%s", args, p.log)
	return nil
}

// reach makes a client for the address, which may be a unix socket's.
func (p *process) reach(public, admin string) {
	network, address := "tcp", public
	if strings.HasPrefix(public, "/") {
		network = "unix"
		public = "keystone"
	}
	p.url, p.admin = "http://"+public, "http://"+admin
	p.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 32,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%v: %v\n%s", s, err, p.log)
	}
}

// end stops the process, once.
func (p *process) end(t *testing.T) {
	t.Helper()
	if p.ended != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.wait(t)
	}
}

// wait wants the process to end well.
func (p *process) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Errorf("the process ended with %v:\n%s", err, tail(p.log.String()))
		}
	case <-time.After(40 * time.Second):
		_ = p.cmd.Process.Kill()
		t.Errorf("still running after SIGTERM:\n%s", tail(p.log.String()))
	}
	p.ended = nil
	p.searchLog(t)
}

// searchLog wants each line of the log to be one that kolla reads, and no
// secret in it.
func (p *process) searchLog(t *testing.T) {
	t.Helper()
	text := p.log.String()
	for line := range strings.Lines(text) {
		if !logtest.ReadsAsRecord(strings.TrimSuffix(line, "\n")) {
			t.Errorf("kolla cannot read this line of the log: %s", line)
			break
		}
	}
	p.secrets.Add("password", "s3cret")
	for _, found := range p.secrets.In(text) {
		t.Errorf("the log holds %s", found)
	}
}

// tail is the end of a log.
func tail(s string) string { return s[max(0, len(s)-3000):] }

// says waits until the log has a text n times.
func (p *process) says(t *testing.T, text string, n int) {
	t.Helper()
	for range 1500 {
		if strings.Count(p.log.String(), text) >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the log does not say %q %d times:\n%s", text, n, tail(p.log.String()))
}

// metric reads one line of /metrics.
func (p *process) metric(t *testing.T, name string) string {
	t.Helper()
	_, body := get(t, p.admin+"/metrics")
	_, rest, ok := strings.Cut(body, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	return value
}

// call makes a request and gives the status and what identifies the answer.
func (p *process) call(method, path, body string, header map[string]string) (status int, answer, token string, err error) {
	r, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	r.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		r.Header.Set(k, v)
		if strings.HasSuffix(k, "-Token") {
			p.secrets.Add("token", v)
		}
	}
	res, err := p.client.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	defer res.Body.Close()
	p.secrets.Add("token", res.Header.Get("X-Subject-Token"))
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), res.Header.Get("X-Subject-Token"), err
}

const adminLogin = `{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": {"id": "default"}, "password": "s3cret"}}}, "scope": {"project": {"name": "admin", "domain": {"id": "default"}}}}}`

// login gives a token of the administrator.
func (p *process) login() (string, error) {
	status, body, token, err := p.call("POST", "/v3/auth/tokens", adminLogin, nil)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("login: %d %.300s", status, body)
	}
	return token, err
}

// validate wants a token to be good.
func (p *process) validate(caller, subject string) error {
	status, body, _, err := p.call("GET", "/v3/auth/tokens?nocatalog", "", map[string]string{"X-Auth-Token": caller, "X-Subject-Token": subject})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("validate: %d %.300s", status, body)
	}
	return err
}

// running is a place with an administrator.
func running(t *testing.T, more ...string) place {
	t.Helper()
	p := ready(t, more...)
	p.must(t, "bootstrap", "--bootstrap-password", "s3cret")
	return p
}

// edit replaces a text of keystone.conf.
func (p place) edit(t *testing.T, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(p.conf)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(pairs...).Replace(string(text))
	if changed == string(text) {
		t.Fatalf("%q is not in keystone.conf", pairs)
	}
	p.put(t, "keystone.conf", changed)
}

// put writes a file whole, by renaming it into its place.
func (p place) put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}
