package v3_test

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// statuses sends a call n times and tells the answers' statuses.
func (s *stand) statuses(n int, c call) []int {
	s.t.Helper()
	var got []int
	for range n {
		got = append(got, s.do(c).Code)
	}
	return got
}

func (s *stand) want(what string, c call, statuses ...int) {
	s.t.Helper()
	if d := cmp.Diff(statuses, s.statuses(len(statuses), c)); d != "" {
		s.t.Errorf("%s: %s", what, d)
	}
}

func TestOpenRowsAreChargedFirst(t *testing.T) {
	reached := 0
	st := newStand(t, setup{burst: 3, rows: open(func(*v3.Call) (v3.Reply, error) {
		reached++
		return v3.Reply{}, fault.Denied("wrong")
	})})
	c := call{method: "POST", path: "/v3/open", body: `{}`, token: "tok-admin"}
	st.want("one address", c, 401, 401, 401, 429, 429)
	if reached != 3 || st.tokens.count() != 0 {
		t.Errorf("handler reached %d times, tokens validated %d times", reached, st.tokens.count())
	}
	c.body = `broken`
	st.want("a broken body is not looked at", c, 429)
	c.peer = "192.0.2.2:1"
	st.want("another address", c, 400, 400, 400, 429)
	st.clock += time.Second
	st.want("a second later", c, 400, 429)
}

func TestRefusalIsConstant(t *testing.T) {
	st := newStand(t, setup{burst: 1, rows: append(open(fine), v3.Route{
		Method: "GET", Path: "/v3/user", Limit: "auth",
		Do: func(*v3.Call) (v3.Reply, error) { // as the limit by user refuses
			return v3.Reply{}, &fault.Error{Kind: fault.TooMany, Message: "Too many requests. Wait before you try again.", RetryAfter: 7200 * time.Millisecond}
		},
	})})
	byUser := st.do(call{path: "/v3/user"})
	byAddr := st.do(call{method: "POST", path: "/v3/open", body: "{}"})
	const body = `{"error":{"code":429,"message":"Too many requests. Wait before you try again.","title":"Too Many Requests"}}` + "\n"
	for name, w := range map[string]*httptest.ResponseRecorder{"by user": byUser, "by address": byAddr} {
		if w.Code != http.StatusTooManyRequests || w.Body.String() != body {
			t.Errorf("%s: got %d %q", name, w.Code, w.Body)
		}
		want := []string{"Cache-Control", "Content-Length", "Content-Type", "Retry-After", "Vary", "X-Openstack-Request-Id"}
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(w.Header()))); d != "" {
			t.Errorf("%s: header: %s", name, d)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control: %q", name, got)
		}
	}
	if got := byUser.Header().Get("Retry-After"); got != "8" {
		t.Errorf("Retry-After after 7.2 s: got %q, want 8", got)
	}
	if got := byAddr.Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After: got %q, want 1", got)
	}
}

// A client that sends its body as slowly as it likes has its refusal at once.
func TestRefusalDoesNotWaitForTheBody(t *testing.T) {
	st := newStand(t, setup{burst: 1, rows: open(fine)})
	server := httptest.NewServer(st.api)
	defer server.Close()
	send := func(body string, length int) string {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v3/open HTTP/1.1\r\nHost: k\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			t.Fatalf("no answer while the body was on its way: %v", err)
		}
		return strings.TrimSpace(line)
	}
	if got := send("{}", 2); got != "HTTP/1.1 200 OK" {
		t.Fatalf("got %q", got)
	}
	if got := send(`{"auth"`, 100<<10); got != "HTTP/1.1 429 Too Many Requests" {
		t.Errorf("got %q", got)
	}
	st.clock += time.Minute
	if got := send(`{"auth"`, 200<<10); got != "HTTP/1.1 413 Request Entity Too Large" {
		t.Errorf("got %q", got)
	}
}

func TestTokenRowsChargeOnlyStrangers(t *testing.T) {
	at := "/v3/guarded"
	st := newStand(t, setup{burst: 3, rows: guarded(fine)})
	for range 500 {
		if w := st.do(call{path: at, token: "tok-admin"}); w.Code != http.StatusOK {
			t.Fatalf("a valid token: got %d", w.Code)
		}
	}
	asked := st.tokens.count()
	st.want("no token", call{path: at}, 401)
	st.want("a token of nobody", call{path: at, token: "rubbish"}, 401, 401, 429)
	if n := st.tokens.count(); n != asked {
		t.Errorf("tokens of nobody asked the database %d times", n-asked)
	}
	st.want("a valid token from the same address", call{path: at, token: "tok-admin"}, 200)
	st.want("an expired token", call{path: at, token: "tok-expired", peer: "192.0.2.9:1"}, 401, 401, 401, 429)
	st.want("a token of a deleted project", call{path: at, token: "tok-gone", peer: "192.0.2.10:1"}, 404, 404, 404, 429)
}

func TestStrangePathsAreCharged(t *testing.T) {
	paths := []string{"/nosuch", "/v3/nosuch", "//v3/guarded", "/v3//guarded", "/v3/guarded//", "/v3/%2Fguarded", "/identity/v3/guarded", "/v3/guarded/x", "/v3/guar%00ded", "/V3/guarded", "/v2.0"}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			st := newStand(t, setup{burst: 2, rows: guarded(fine)})
			st.want("a valid token", call{path: path, token: "tok-admin"}, 404, 404, 404)
			st.want("no token", call{path: path}, 404)
			st.want("any method", call{path: path, method: "POST", token: "rubbish", body: "x"}, 404, 429)
			w := st.do(call{path: path, token: "tok-admin"})
			wantEnvelope(t, w.Result(), w.Body.String(), http.StatusNotFound)
		})
	}
	st := newStand(t, setup{burst: 2, rows: guarded(fine)})
	st.want("wrong method", call{path: "/v3/guarded", method: "PUT"}, 405, 405, 429)
	w := st.do(call{path: "/v3/guarded", method: "PUT", token: "tok-admin"})
	wantEnvelope(t, w.Result(), w.Body.String(), http.StatusMethodNotAllowed)
	if got := sorted(w.Header().Get("Allow")); got != "GET HEAD OPTIONS" {
		t.Errorf("Allow: got %q", got)
	}
}

func sorted(list string) string {
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// No spelling of a path reaches a handler past its limit (RL-H17).
func TestSpellingsOfAPath(t *testing.T) {
	for _, path := range []string{"/v3/open", "/v3/open/", "/v3/%6fpen", "/%76%33/open", "/v3/open?x=1", "/v3/open%2F"} {
		reached := 0
		st := newStand(t, setup{burst: 2, rows: open(func(*v3.Call) (v3.Reply, error) { reached++; return fine(nil) })})
		st.want(path, call{method: "POST", path: path, body: "{}"}, 200, 200, 429)
		if reached != 2 {
			t.Errorf("%s: handler reached %d times", path, reached)
		}
	}
}

func TestExemptRows(t *testing.T) {
	st := newStand(t, setup{burst: 1})
	for _, c := range []call{
		{path: "/"},
		{path: "/v3"},
		{path: "/v3/", token: "rubbish"},
		{path: "/healthcheck"},
		{method: "HEAD", path: "/healthcheck"},
		{method: "OPTIONS", path: "/v3/regions"},
		{method: "OPTIONS", path: "/healthcheck"},
	} {
		for range 20 {
			if w := st.do(c); w.Code == http.StatusTooManyRequests {
				t.Fatalf("%v: limited", c)
			}
		}
	}
	st.want("the bucket is still full", call{path: "/nosuch"}, 404, 429)
}

func TestNoPeerIsRefused(t *testing.T) {
	st := newStand(t, setup{burst: 5, rows: append(open(fine), guarded(fine)...)})
	w := st.do(call{method: "POST", path: "/v3/open", peer: "@", body: "{}"})
	wantEnvelope(t, w.Result(), w.Body.String(), http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	st.want("no token, no peer", call{path: "/v3/guarded", peer: "@"}, 503)
	st.want("a valid token needs no address", call{path: "/v3/guarded", peer: "@", token: "tok-admin"}, 200)
}
