//go:build interop

// Package rolling_test does what docs/migrating.md says, as it says it, while a
// cloud goes on working.
package rolling_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// leastRate is in requests a second, over the whole run.
const leastRate, leastLogins = 50, 1.9

// before is the balancer of a cloud with Python Keystone alone.
const before = `global
    stats socket %s mode 600 level admin
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend keystone
    bind %s
    default_backend keystone
backend keystone
    server python %s
`

// length is how long the whole takes: KEYSTONE_GO_ROLLING, such as 10m.
func length(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("KEYSTONE_GO_ROLLING")
	if text == "" {
		return 70 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRolling(t *testing.T) {
	total := length(t)
	// Python remembers in memcached, as clouds run it: so each answer below
	// shows whether it was told of what keystone-go wrote.
	e := peer.Start(t, peer.Options{Processes: 2, Cache: peer.PyMemcache, Stopped: true})
	if err := e.Python.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Python.Stop() })
	dir := t.TempDir()
	front, err := proctest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{dir: dir, socket: filepath.Join(dir, "admin.sock")}
	b.start(t, fmt.Sprintf(before, b.socket, front, strings.TrimPrefix(e.Python.URL, "http://")))
	control := httptest.NewServer(services(e, b))
	t.Cleanup(control.Close)
	if err := systemctl(dir, control.URL); err != nil {
		t.Fatal(err)
	}
	p := place{dir: dir, replaced: strings.NewReplacer(
		"/etc/keystone/keystone.conf", e.Go.Conf, "/etc/haproxy/", dir+"/", "/run/haproxy/admin.sock", b.socket,
		"127.0.0.1:5001", strings.TrimPrefix(e.Python.URL, "http://"), "127.0.0.1:5002", strings.TrimPrefix(e.Go.URL, "http://"),
		"127.0.0.1:5009", strings.TrimPrefix(e.Go.AdminURL, "http://"), "bind :5000", "bind "+front,
	), env: []string{"PATH=" + dir + ":" + filepath.Dir(e.Program()) + ":" + os.Getenv("PATH") + ":/usr/sbin"}}

	l := newLoad("http://"+front, e.Python.Admin(t), "", nil)
	people(t, e, l)
	l.start()
	follow(t, p, b, total, l)
	seconds := l.stop()
	judge(t, e, l, seconds)
}

// follow does what the guide says. After each of its commands the load goes on
// for a while.
func follow(t *testing.T, p place, b *balancer, total time.Duration, l *load) {
	var blocks []block
	commands := 0
	for _, bl := range guide(t) {
		if bl.kind == "sh" {
			continue // for another situation
		}
		blocks = append(blocks, bl)
		if bl.kind == "console" {
			commands++
		}
	}
	pause := total / time.Duration(commands+1)
	time.Sleep(pause)
	for _, bl := range blocks {
		if bl.kind != "console" {
			p.file(t, bl)
			continue
		}
		p.run(t, bl)
		time.Sleep(pause / 4)
		settled := b.sessions(t)
		time.Sleep(pause * 3 / 4)
		after := b.sessions(t)
		t.Logf("%5.1f s: %-26s then Python got %5d requests, keystone-go %5d", time.Since(l.begun).Seconds(), bl.heading,
			after["python"]-settled["python"], after["keystone-go"]-settled["keystone-go"])
		python, ours := after["python"]-settled["python"], after["keystone-go"]-settled["keystone-go"]
		switch bl.heading {
		case "keystone-go beside Python":
			if strings.Contains(bl.commands(), "weight") && (python == 0 || ours == 0) {
				t.Errorf("beside each other Python got %d requests, keystone-go %d", python, ours)
			}
		case "Python drained":
			if python > 0 || ours == 0 {
				t.Errorf("with Python drained it got %d requests of what keystone-go serves, which got %d", python, ours)
			}
		case "And back":
			if ours > 0 || python == 0 {
				t.Errorf("after the way back keystone-go got %d requests, Python %d", ours, python)
			}
		}
	}
}

// people makes users who log in.
func people(t *testing.T, e *peer.Env, l *load) {
	t.Helper()
	admin := peer.Call{Token: l.admin}
	ask := func(status int, method, path string, body any) peer.Answer {
		c := admin
		c.Method, c.Path, c.Body = method, path, body
		return e.Python.Want(t, status, c)
	}
	l.project = ask(http.StatusCreated, "POST", "/v3/projects", m{"project": m{"name": "load"}}).Text("project", "id")
	role := ask(http.StatusOK, "GET", "/v3/roles?name=member", nil).Text("roles", 0, "id")
	for i := range 8 {
		name := fmt.Sprint("person", i)
		id := ask(http.StatusCreated, "POST", "/v3/users", m{"user": m{"name": name, "password": "pw-" + name}}).Text("user", "id")
		ask(http.StatusNoContent, "PUT", "/v3/projects/"+l.project+"/users/"+id+"/roles/"+role, nil)
		l.people = append(l.people, name)
	}
}

// judge looks for failures, for the rate, and for every acknowledged write.
func judge(t *testing.T, e *peer.Env, l *load, seconds float64) {
	rate, logins := float64(l.requests.Load())/seconds, float64(l.logins.Load())/seconds
	t.Logf("%.0f s, %d requests (%.1f a second), %d logins (%.1f a second), %d writes, %d failures, the slowest %s",
		seconds, l.requests.Load(), rate, l.logins.Load(), logins, l.writes, l.failed, time.Duration(l.slowest.Load()))
	if l.failed > 0 {
		t.Errorf("%d failures, the first of them:\n%s", l.failed, strings.Join(l.faults, "\n"))
	}
	if rate < leastRate || logins < leastLogins {
		t.Errorf("%.1f requests and %.1f logins a second, want %d and %.1f", rate, logins, leastRate, leastLogins)
	}
	err := peer.SaveReport("rolling", map[string]any{
		"Seconds": seconds, "Requests": l.requests.Load(), "Rate": rate, "Logins": logins, "Writes": l.writes, "Failures": l.failed,
		"Slowest": time.Duration(l.slowest.Load()).Seconds(),
	})
	if err != nil {
		t.Error(err)
	}
	found := 0
	for id, want := range l.regions {
		status := http.StatusOK
		if want == "" {
			status = http.StatusNotFound
		}
		a := e.Python.Do(t, peer.Call{Method: "GET", Path: "/v3/regions/" + id, Token: l.admin})
		if a.Status != status || a.Text("region", "description") != want {
			t.Errorf("region %s: got %v, acknowledged was %q", id, a, want)
		}
		found++
	}
	for id, want := range l.users {
		if a := e.Python.Do(t, peer.Call{Method: "GET", Path: "/v3/users/" + id, Token: l.admin}); a.Text("user", "description") != want {
			t.Errorf("user %s: got %v, acknowledged was %q", id, a, want)
		}
		found++
	}
	for _, token := range l.revoked {
		if a := e.Python.Do(t, peer.Call{Method: "GET", Path: "/v3/auth/tokens", Token: l.admin, Subject: token}); a.Status != http.StatusNotFound {
			t.Errorf("a token whose revocation was acknowledged: %v", a)
		}
		found++
	}
	t.Logf("%d things that were written are as acknowledged", found)
	if found < 20 {
		t.Error("that is no load")
	}
}

// services are what systemctl starts and stops.
func services(e *peer.Env, b *balancer) http.Handler {
	answer := func(w http.ResponseWriter, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start/keystone-go", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.Go.Start()) })
	mux.HandleFunc("POST /stop/keystone-go", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.Go.Stop()) })
	mux.HandleFunc("POST /reload/haproxy", func(w http.ResponseWriter, _ *http.Request) { answer(w, b.reload()) })
	return mux
}

// sessions gives the requests that each server of the backend was sent so far.
func (b *balancer) sessions(t *testing.T) map[string]int {
	t.Helper()
	c, err := net.Dial("unix", b.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "show stat\n"); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(c).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const backend, server, total = 0, 1, 7 // of HAProxy's management guide, 9.1
	out := map[string]int{}
	for _, r := range rows[1:] {
		if r[backend] == "keystone" && r[server] != "BACKEND" && r[server] != "FRONTEND" {
			out[r[server]], _ = strconv.Atoi(r[total])
		}
	}
	return out
}
