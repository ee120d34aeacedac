package pycache_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

// The keys as Python Keystone 30.0.0 was seen to set them.
const (
	sharedKey = "2a4b007dd5619393e567dc0c8bc36c2996d52dd7"
	tokensKey = "2d6cad476fdd468cd5142307ac89a6534277951e"
)

func open(t *testing.T, c pycache.Settings, log *bytes.Buffer) *pycache.Caches {
	t.Helper()
	handler := slog.DiscardHandler
	if log != nil {
		handler = slog.NewTextHandler(log, nil)
	}
	p, warnings, err := pycache.Open(c, slog.New(handler))
	if err != nil || p == nil || len(warnings) > 0 {
		t.Fatalf("got %v, %q, %v", p, warnings, err)
	}
	t.Cleanup(p.Close)
	return p
}

func cache(servers ...string) pycache.Settings {
	return pycache.Settings{Enabled: true, Backend: "oslo_cache.memcache_pool", ExpirationTime: 600, Servers: servers, SocketTimeout: 1}
}

func region(t *testing.T, d db.DB, id string) {
	t.Helper()
	if _, err := d.Exec(t.Context(), `insert into region (id, description, extra) values ($1, '', '{}')`, id); err != nil {
		t.Fatal(err)
	}
}

// TestEveryServer: a write is answered when each server has deleted the keys.
func TestEveryServer(t *testing.T) {
	a, b := newMemcached(t, nil), newMemcached(t, nil)
	b.answer = "NOT_FOUND"
	socket := &memcached{answer: "DELETED"}
	path := filepath.Join(t.TempDir(), "socket")
	socket.listen(t, "unix", path, nil)
	p := open(t, cache(a.address(), " inet:"+b.address(), "unix:"+path), nil)
	d := p.Watch(dbtest.Open(t, "sqlite"))
	for i := range 3 {
		region(t, d, fmt.Sprint("r", i))
		for _, m := range []*memcached{a, b, socket} {
			gone := m.gone()
			if len(gone) != 7 || !slices.Contains(gone, sharedKey) || !slices.Contains(gone, tokensKey) {
				t.Errorf("deleted %v, want seven keys, %s and %s among them", gone, sharedKey, tokensKey)
			}
		}
		a.hangUp() // it is reached again at once
	}
	if got, want := p.Stats(), (pycache.Deletions{Done: 9}); got.Deletions != want || got.Owing != 0 || len(got.Regions) != 7 || got.Regions["tokens"] != want {
		t.Errorf("got %+v, want %+v in all and for each of seven regions", got, want)
	}
}

// TestWhatMatters: a revocation drops what it must, and reads nothing.
func TestWhatMatters(t *testing.T) {
	m := newMemcached(t, nil)
	raw := dbtest.Open(t, "sqlite")
	d := open(t, cache(m.address()), nil).Watch(raw)
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"a revocation", `insert into revocation_event (issued_before, revoked_at) values ('2026-01-01 00:00:00', '2026-01-01 00:00:00')`, 2},
		{"the pruning of revocations", `delete from revocation_event where audit_id is null`, 2},
		{"a user", `insert into "user" (id, domain_id, enabled) values ('u', 'x', true)`, 7},
		{"a user's enabling", `update "user" set enabled = false where id = 'u'`, 7},
		{"a change of nothing", `update "user" set enabled = false where id = 'nobody'`, 0},
		{"a table of our own", `insert into keystone_go_x (id) values (1)`, 0},
		{"an odd statement", `with x as (select 'u' as id) update "user" set enabled = true where id in (select id from x)`, 7},
	} {
		if _, err := raw.Exec(t.Context(), `create table if not exists keystone_go_x (id integer)`); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), c.text); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if gone := m.gone(); len(gone) != c.want {
			t.Errorf("%s: %d keys deleted, want %d", c.name, len(gone), c.want)
		}
	}
	if _, err := db.All(t.Context(), d, db.Query[string]{Text: `select id from region`}); err != nil {
		t.Fatal(err)
	}
	if gone := m.gone(); len(gone) > 0 {
		t.Errorf("a read deleted %v", gone)
	}
}

// TestServerDown: a server that is away keeps nobody, is told of once, and gets
// what it is owed when it is back.
func TestServerDown(t *testing.T) {
	up, down := newMemcached(t, nil), newMemcached(t, nil)
	address := down.address()
	down.down()
	var log bytes.Buffer
	p := open(t, cache(up.address(), address), &log)
	d := p.Watch(dbtest.Open(t, "sqlite"))
	for i := range 3 {
		start := time.Now()
		region(t, d, fmt.Sprint("r", i))
		if took := time.Since(start); took > time.Second {
			t.Errorf("write %d took %s", i, took)
		}
		if gone := up.gone(); len(gone) != 7 {
			t.Errorf("the other server was sent %v", gone)
		}
	}
	if s := p.Stats(); s.Done != 3 || s.Failed < 3 || s.Owing != 1 || s.Regions["shared default"].Done != 3 || s.Regions["revoke"].Failed < 3 {
		t.Errorf("got %+v, want 3 done, 3 failed or more, 1 owing", s)
	}
	down.listen(t, "tcp", address, nil)
	deadline := time.Now().Add(10 * time.Second)
	for p.Stats().Owing > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if gone := down.gone(); len(gone) != 7 {
		t.Errorf("the server that came back was sent %v, want each key once", gone)
	}
	region(t, d, "again")
	if gone := down.gone(); len(gone) != 7 {
		t.Errorf("after that it was sent %v", gone)
	}
	p.Close()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want 1:\n%s", n, log.String())
	}
}

// TestServerHangs: a server that takes a request and never answers costs the
// first write its time, and no other.
func TestServerHangs(t *testing.T) {
	m := newMemcached(t, nil)
	m.hold = make(chan struct{})
	defer close(m.hold)
	c := cache(m.address())
	c.SocketTimeout = 0.2
	d := open(t, c, nil).Watch(dbtest.Open(t, "sqlite"))
	start := time.Now()
	region(t, d, "first")
	if took := time.Since(start); took < 200*time.Millisecond || took > time.Second {
		t.Errorf("the first write took %s, want its 200 ms", took)
	}
	start = time.Now()
	for i := range 20 {
		region(t, d, fmt.Sprint("r", i))
	}
	if took := time.Since(start); took > 2*time.Second { // waited for, they would take four
		t.Errorf("twenty later writes took %s", took)
	}
}

// TestTogether: writes at one time share their deletions, and none is answered
// before a deletion that began after its commit.
func TestTogether(t *testing.T) {
	m := newMemcached(t, nil)
	m.hold = make(chan struct{})
	c := cache(m.address())
	c.SocketTimeout = 5
	p := open(t, c, nil)
	d := p.Watch(dbtest.Open(t, "postgres"))
	const writes = 20
	var done sync.WaitGroup
	answered := make(chan int, writes)
	for i := range writes {
		done.Go(func() {
			_, err := d.Exec(context.Background(), `insert into region (id, description, extra) values ($1, '', '{}')`, fmt.Sprint("r", i))
			if err != nil {
				t.Error(err)
			}
			answered <- i
		})
	}
	for there, end := 0, time.Now().Add(20*time.Second); there < writes && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		rows, err := db.All(t.Context(), d, db.Query[string]{Text: `select id from region`, Scan: func(r db.Row) (id string, err error) { return id, r.Scan(&id) }})
		if there = len(rows); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond)
	if len(answered) > 0 {
		t.Errorf("%d writes were answered before the deletion", len(answered))
	}
	close(m.hold)
	done.Wait()
	if s := p.Stats(); s.Done == 0 || s.Done > writes/2 || s.Failed > 0 {
		t.Errorf("%d writes at a time made %+v", writes, s)
	}
}

func TestSASL(t *testing.T) {
	m := newMemcached(t, nil)
	m.user, m.password = "keystone", "sesame"
	c := cache(m.address())
	c.SASL, c.Username, c.Password = true, "keystone", "sesame"
	p := open(t, c, nil)
	region(t, p.Watch(dbtest.Open(t, "sqlite")), "r")
	if gone := m.gone(); len(gone) != 7 {
		t.Errorf("deleted %v", gone)
	}
	var log bytes.Buffer
	c.Password = "open-wrong"
	wrong := open(t, c, &log)
	region(t, wrong.Watch(dbtest.Open(t, "sqlite")), "r")
	if s := wrong.Stats(); s.Done != 0 || s.Failed == 0 {
		t.Errorf("with a wrong password: %+v", s)
	}
	wrong.Close()
	if text := log.String(); !strings.Contains(text, "refuses the user") || strings.Contains(text, "open-wrong") {
		t.Errorf("the log says:\n%s", text)
	}
}

// TestTLS: the server's certificate is checked against tls_cafile.
func TestTLS(t *testing.T) {
	https := httptest.NewUnstartedServer(nil)
	https.StartTLS()
	certificate := https.TLS.Certificates[0]
	https.Close()
	m := newMemcached(t, &tls.Config{Certificates: []tls.Certificate{certificate}})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := cache(m.address())
	c.TLS, c.CAFile = true, ca
	region(t, open(t, c, nil).Watch(dbtest.Open(t, "sqlite")), "r")
	if gone := m.gone(); len(gone) != 7 {
		t.Errorf("deleted %v", gone)
	}
	c.CAFile = ""
	p := open(t, c, nil)
	region(t, p.Watch(dbtest.Open(t, "sqlite")), "r")
	if gone := m.gone(); len(gone) > 0 || p.Stats().Failed == 0 {
		t.Errorf("an unknown certificate was taken: deleted %v", gone)
	}
}

func TestOpen(t *testing.T) {
	with := func(f func(*pycache.Settings)) pycache.Settings {
		c := cache("localhost")
		f(&c)
		return c
	}
	for _, c := range []struct {
		name    string
		cache   pycache.Settings
		there   bool
		warning string
		fault   string
	}{
		{"memcached", cache("localhost:11211"), true, "", ""},
		{"without a file", pycache.Settings{Enabled: true, Backend: "dogpile.cache.null"}, false, "", ""},
		{"off", with(func(c *pycache.Settings) { c.Enabled = false }), false, "", ""},
		{"of another kind", with(func(c *pycache.Settings) { c.Backend = "dogpile.cache.redis" }), false, "600 s late", ""},
		{"in the process", with(func(c *pycache.Settings) { c.Backend = "dogpile.cache.memory" }), false, "600 s late", ""},
		{"no address", cache("a:b:c"), false, "", "memcache_servers"},
		{"the old way", with(func(c *pycache.Settings) { c.Arguments = []string{"url:one,two:11212"} }), true, "", ""},
		{"no such CA", with(func(c *pycache.Settings) { c.TLS, c.CAFile = true, "/nowhere" }), false, "", "tls_cafile"},
		{"no such certificate", with(func(c *pycache.Settings) { c.TLS, c.CertFile = true, "/nowhere" }), false, "", "tls_certfile"},
	} {
		p, warnings, err := pycache.Open(c.cache, slog.New(slog.DiscardHandler))
		p.Close()
		if (p != nil) != c.there || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) ||
			strings.Contains(strings.Join(warnings, ""), "late") != (c.warning != "") {
			t.Errorf("%s: got %v, %q, %v", c.name, p != nil, warnings, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"localhost": "tcp localhost:11211", "cache.example:11212": "tcp cache.example:11212", " 10.0.0.1:11211 ": "tcp 10.0.0.1:11211",
		"inet6:[fd00::1]:11211": "tcp [fd00::1]:11211", "[fd00::1]:11213": "tcp [fd00::1]:11213", "fd00::1": "tcp [fd00::1]:11211",
		"unix:/run/memcached.sock": "unix /run/memcached.sock", "/run/memcached.sock": "unix /run/memcached.sock",
	} {
		network, address, err := pycache.Address(text)
		got := network + " " + address
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":11211", "a:b:c", "host:"} {
		if _, got, err := pycache.Address(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}
