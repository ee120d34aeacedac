package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// started is a server that runs inside the test.
type started struct {
	url, admin string
	out, log   *buffer
	signals    chan os.Signal
	code       chan int
}

var servingLine = regexp.MustCompile(`Serving listen=\[(\S+)\] admin_listen=\[(\S*)\]`)

// start runs a verb that serves until it says that it does.
func (c call) start(t *testing.T, args ...string) *started {
	t.Helper()
	p, out, log := c.program(args...)
	s := &started{out: out, log: log, signals: make(chan os.Signal, 2), code: make(chan int, 1)}
	p.signals = s.signals
	go func() { s.code <- p.run(context.Background()) }()
	t.Cleanup(func() { s.end(t, 0) })
	for range 1500 {
		if m := servingLine.FindStringSubmatch(log.String()); m != nil {
			s.url, s.admin = "http://"+m[1], "http://"+m[2]
			return s
		}
		select {
		case code := <-s.code:
			s.code <- code
			t.Fatalf("%v ended with %d before it served:\n%s", args, code, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatalf("%v does not serve:\n%s", args, log)
	return nil
}

// end stops the server, once, and checks its exit code.
func (s *started) end(t *testing.T, want int) {
	t.Helper()
	if s.code == nil {
		return
	}
	select {
	case s.signals <- syscall.SIGTERM:
	default: // enough of them already
	}
	select {
	case got := <-s.code:
		if got != want {
			t.Errorf("exit code %d, want %d:\n%s", got, want, s.log)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("still running after SIGTERM:\n%s", s.log)
	}
	s.code = nil
}

// get gives status and body.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func ready(t *testing.T, more ...string) place {
	t.Helper()
	p := newPlace(t, more...)
	p.must(t, "db_sync")
	p.must(t, "fernet_setup")
	return p
}

func TestServe(t *testing.T) {
	p := ready(t, "[cache]", "proxies = a", "[other]", "x = 1")
	s := call{}.start(t, "--config-file", p.conf, "serve")
	if status, body := get(t, s.url+"/v3"); status != http.StatusOK || !strings.Contains(body, "v3.14") {
		t.Errorf("GET /v3: %d %s", status, body)
	}
	if status, body := get(t, s.admin+"/metrics"); status != http.StatusOK || !strings.Contains(body, "keystone_http_requests_total") {
		t.Errorf("GET /metrics: %d %.300s", status, body)
	}
	if status, _ := get(t, s.url+"/metrics"); status != http.StatusNotFound {
		t.Errorf("GET /metrics on the public listener: %d, want 404", status)
	}
	if status, body := get(t, s.admin+"/readyz"); status != http.StatusOK {
		t.Errorf("GET /readyz: %d %s", status, body)
	}
	for _, want := range []string{"options that are not known", "count=1", "have no effect in this server: [cache] proxies"} {
		if n := strings.Count(s.log.String(), want); n != 1 {
			t.Errorf("the log says %q %d times, want once:\n%s", want, n, s.log)
		}
	}
	s.end(t, 0)
	if _, err := http.Get(s.url); err == nil {
		t.Error("the server answers after its end")
	}
	if s.out.String() != "" {
		t.Errorf("stdout: %s", s.out)
	}
}

// slowLogin opens a request, which the server has when this returns, and whose
// body comes when the returned function is called; that gives the status.
func slowLogin(t *testing.T, url, admin string) func() (int, error) {
	t.Helper()
	body := `{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "nobody", "domain": {"id": "default"}, "password": "x"}}}}}`
	in, out := io.Pipe()
	type answer struct {
		status int
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := http.Post(url+"/v3/auth/tokens", "application/json", in)
		if err != nil {
			done <- answer{0, err}
			return
		}
		r.Body.Close()
		done <- answer{r.StatusCode, nil}
	}()
	if _, err := io.WriteString(out, body[:10]); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, text := get(t, admin+"/metrics"); strings.Contains(text, `keystone_http_requests_in_flight{listener="public"} 1`) {
			break
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the request does not arrive")
		}
	}
	return func() (int, error) {
		_, err := io.WriteString(out, body[10:])
		out.Close()
		a := <-done
		return a.status, errors.Join(err, a.err)
	}
}

// TestDrain: SIGTERM lets a request end, and takes no new ones meanwhile.
func TestDrain(t *testing.T) {
	p := ready(t, "[keystone_go]", "graceful_timeout = 10")
	s := call{}.start(t, "--config-file", p.conf, "serve")
	finish := slowLogin(t, s.url, s.admin)
	s.signals <- syscall.SIGTERM
	address := strings.TrimPrefix(s.url, "http://")
	for c, err := net.Dial("tcp", address); err == nil; c, err = net.Dial("tcp", address) {
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
	if status, err := finish(); err != nil || status != http.StatusUnauthorized {
		t.Errorf("the request under way: %d, %v, want 401", status, err)
	}
	if code := <-s.code; code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, s.log)
	}
	s.code = nil
}

// TestDrainDelay: the server answers on, but is not ready.
func TestDrainDelay(t *testing.T) {
	p := ready(t, "[keystone_go]", "drain_delay = 4")
	s := call{}.start(t, "--config-file", p.conf, "serve")
	s.signals <- syscall.SIGTERM
	began := time.Now()
	for status := 0; status != http.StatusServiceUnavailable && time.Since(began) < 3*time.Second; {
		status, _ = get(t, s.admin+"/readyz?verbose")
	}
	if status, body := get(t, s.url+"/v3"); status != http.StatusOK {
		t.Errorf("GET /v3 during the delay: %d %s", status, body)
	}
	if code := <-s.code; code != 0 || time.Since(began) < 4*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(began))
	}
	s.code = nil
}

func TestGracefulTimeoutCutsOff(t *testing.T) {
	p := ready(t, "[keystone_go]", "graceful_timeout = 1")
	s := call{}.start(t, "--config-file", p.conf, "serve")
	finish := slowLogin(t, s.url, s.admin)
	s.end(t, 0)
	if !strings.Contains(s.log.String(), "Requests were cut off at the end") {
		t.Errorf("the log does not say so:\n%s", s.log)
	}
	if status, err := finish(); err == nil {
		t.Errorf("the request was answered %d", status)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := ready(t)
	s := call{}.start(t, "--config-file", p.conf, "serve")
	finish := slowLogin(t, s.url, s.admin)
	began := time.Now()
	s.signals <- syscall.SIGTERM
	s.signals <- syscall.SIGTERM // the same one, sent to the group as well
	time.Sleep(sameSignal + 50*time.Millisecond)
	select {
	case code := <-s.code:
		t.Fatalf("a doubled signal ended the server with %d", code)
	default:
	}
	s.end(t, 1)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if !strings.HasSuffix(s.log.String(), "keystone-go: a second signal came: requests were cut off\n") {
		t.Errorf("stderr:\n%s", s.log)
	}
	// In the program the end of the process cuts the request off; here the
	// server lives on until it is answered.
	if _, err := finish(); err != nil {
		t.Logf("the request: %v", err)
	}
}

// TestServeRefuses: one clear line, exit code 1, nothing left.
func TestServeRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := "127.0.0.1:" + strings.Split(l.Addr().String(), ":")[1]
	for _, x := range []struct {
		what  string
		place place
		says  string
	}{
		{"no database", func() place { p := newPlace(t); p.must(t, "fernet_setup"); return p }(), "keystone.db does not exist: run db_sync"},
		{"no schema", func() place { p := newPlace(t); p.must(t, "fernet_setup"); p.must(t, "db_version"); return p }(), "run db_sync"},
		{"no keys", func() place { p := newPlace(t); p.must(t, "db_sync"); return p }(), "[fernet_tokens] key_repository: "},
		{"occupied port", ready(t, "[keystone_go]", "listen = "+taken), "[keystone_go] listen: listen on " + taken + ": "},
		{"occupied admin port", ready(t, "[keystone_go]", "admin_listen = "+taken), "[keystone_go] admin_listen: listen on " + taken + ": "},
		{"no address", ready(t, "[keystone_go]", "listen ="), "[keystone_go] listen names no address"},
	} {
		before := files(t, x.place.dir)
		r := x.place.run(t, "serve")
		if r.code != 1 || r.out != "" || !strings.Contains(r.err, "keystone-go: "+x.says) && !strings.Contains(r.err, x.says) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %q", x.what, r.code, r.out, r.err, x.says)
		}
		if last := r.err[strings.LastIndex("\n"+strings.TrimSuffix(r.err, "\n"), "\n"):]; !strings.HasPrefix(last, "keystone-go: ") {
			t.Errorf("%s: the last line on stderr is %q", x.what, last)
		}
		if after := files(t, x.place.dir); after != before {
			t.Errorf("%s: the folder changed from\n%s\nto\n%s", x.what, before, after)
		}
	}
}

// TestRoutes: a row for each route, and none that is not served.
func TestRoutes(t *testing.T) {
	r := call{}.run(t, "routes")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 || r.err != "" || lines[0] != "method\tpath\trule\tlimit" || len(lines) < 20 {
		t.Fatalf("routes: exit code %d, stderr %q, %d lines", r.code, r.err, len(lines))
	}
	rows := map[string]bool{}
	for _, l := range lines[1:] {
		if rows[l] || len(strings.Split(l, "\t")) != 4 {
			t.Errorf("twice, or not four columns: %q", l)
		}
		rows[l] = true
	}
	for _, want := range []string{
		"POST\t/v3/auth/tokens\t(open)\tauth",
		"DELETE\t/v3/regions/{region_id}\tidentity:delete_region\ttoken",
		"GET\t/healthcheck\t(open)\texempt",
	} {
		if !rows[want] {
			t.Errorf("no row %q in\n%s", want, r.out)
		}
	}
}
