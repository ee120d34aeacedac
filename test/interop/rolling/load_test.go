//go:build interop

package rolling_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

type m = peer.M

// load sends requests through the balancer and keeps what was acknowledged.
type load struct {
	url, admin string
	people     []string // names of users who log in
	project    string
	client     http.Client
	begun      time.Time

	requests, logins atomic.Int64
	slowest          atomic.Int64 // ns
	work             sync.WaitGroup
	done             chan struct{}

	mu      sync.Mutex
	tokens  []string
	faults  []string
	failed  int
	regions map[string]string // id: description as acknowledged, "" when deleted
	users   map[string]string // id: the same
	revoked []string
	writes  int
}

func newLoad(url, admin, project string, people []string) *load {
	return &load{
		url: url, admin: admin, people: people, project: project, done: make(chan struct{}),
		// A connection a request: no client has to guess whether one is still good.
		client:  http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}},
		regions: map[string]string{}, users: map[string]string{},
	}
}

// steps are what a second of load is made of, and how often in it.
var steps = []struct {
	times float64
	do    func(*load)
}{
	{24, (*load).discover},
	{22, (*load).validate},
	{1.2, (*load).login},
	{0.8, (*load).revoke},
	{0.5, (*load).region},
	{0.5, (*load).user},
	{0.2, (*load).make},
}

// start sends the load until stop; what comes late is made up for.
func (l *load) start() {
	l.begun = time.Now()
	free := make(chan struct{}, 48)
	for _, s := range steps {
		l.work.Go(func() {
			for n := 0; ; n++ {
				due := l.begun.Add(time.Duration(float64(n) / s.times * float64(time.Second)))
				select {
				case <-time.After(time.Until(due)):
				case <-l.done:
					return
				}
				select {
				case free <- struct{}{}:
				case <-l.done:
					return
				}
				l.work.Go(func() {
					s.do(l)
					<-free
				})
			}
		})
	}
}

// stop waits for what is under way and gives the seconds that it all took.
func (l *load) stop() float64 {
	close(l.done)
	l.work.Wait()
	return time.Since(l.begun).Seconds()
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed++
	if len(l.faults) < 30 {
		at := fmt.Sprintf("%5.1f s: ", time.Since(l.begun).Seconds())
		l.faults = append(l.faults, at+fmt.Sprintf(format, args...))
	}
}

// ask sends a request that must be answered by the status; nil when it is not.
func (l *load) ask(status int, method, path string, body any, header ...string) *peer.Answer {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, l.url+path, in)
	if err != nil {
		panic(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	resp, err := l.client.Do(r)
	l.requests.Add(1)
	if err != nil {
		l.fault("%s %s: %v", method, path, err)
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if took := int64(time.Since(start)); took > l.slowest.Load() {
		l.slowest.Store(took)
	}
	a := &peer.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(text)}
	if err != nil || a.Status != status {
		l.fault("%s %s: got %v (%v), want %d", method, path, a, err, status)
		return nil
	}
	return a
}

func (l *load) asAdmin(status int, method, path string, body any) *peer.Answer {
	return l.ask(status, method, path, body, "X-Auth-Token", l.admin)
}

func (l *load) discover() { l.ask(http.StatusOK, "GET", "/v3", nil) }

// pick gives one of a list.
func pick(list []string) string {
	var b [2]byte
	_, _ = rand.Read(b[:])
	return list[(int(b[0])<<8|int(b[1]))%len(list)]
}

func unique(of string) string { return of + "-" + strings.ToLower(rand.Text()[:12]) }

func (l *load) token() (token, name string) {
	name = pick(l.people)
	l.logins.Add(1)
	a := l.ask(http.StatusCreated, "POST", "/v3/auth/tokens", peer.Login(name, "pw-"+name, m{"project": m{"id": l.project}}))
	if a == nil {
		return "", name
	}
	return a.Header.Get("X-Subject-Token"), name
}

func (l *load) login() {
	if token, _ := l.token(); token != "" {
		l.mu.Lock()
		l.tokens = append(l.tokens, token)
		l.mu.Unlock()
	}
}

func (l *load) validate() {
	l.mu.Lock()
	var token string
	if len(l.tokens) > 0 {
		token = pick(l.tokens)
	}
	l.mu.Unlock()
	if token != "" {
		l.ask(http.StatusOK, "GET", "/v3/auth/tokens", nil, "X-Auth-Token", l.admin, "X-Subject-Token", token)
	}
}

func (l *load) wrote() {
	l.mu.Lock()
	l.writes++
	l.mu.Unlock()
}

// revoke: once a revocation is acknowledged, nobody takes the token any more.
func (l *load) revoke() {
	token, _ := l.token()
	if token == "" {
		return
	}
	l.ask(http.StatusOK, "GET", "/v3/auth/tokens", nil, "X-Auth-Token", l.admin, "X-Subject-Token", token)
	if l.ask(http.StatusNoContent, "DELETE", "/v3/auth/tokens", nil, "X-Auth-Token", token, "X-Subject-Token", token) == nil {
		return
	}
	l.wrote()
	l.ask(http.StatusNotFound, "GET", "/v3/auth/tokens", nil, "X-Auth-Token", l.admin, "X-Subject-Token", token)
	l.mu.Lock()
	l.revoked = append(l.revoked, token)
	l.mu.Unlock()
}

// region is made, changed twice and every third time deleted; each answer must
// show the change before.
func (l *load) region() {
	id := unique("region")
	path := "/v3/regions/" + id
	if l.asAdmin(http.StatusCreated, "POST", "/v3/regions", m{"region": m{"id": id, "description": "0"}}) == nil {
		return
	}
	l.wrote()
	last := "0"
	for i := range 2 {
		l.shows(path, "region", last)
		next := fmt.Sprint(i + 1)
		if l.asAdmin(http.StatusOK, "PATCH", path, m{"region": m{"description": next}}) == nil {
			return
		}
		l.wrote()
		last = next
	}
	l.shows(path, "region", last)
	if id[len(id)-1]%3 == 0 && l.asAdmin(http.StatusNoContent, "DELETE", path, nil) != nil {
		l.wrote()
		last = ""
		l.asAdmin(http.StatusNotFound, "GET", path, nil)
	}
	l.mu.Lock()
	l.regions[id] = last
	l.mu.Unlock()
}

// shows looks whether the description is that of the last change.
func (l *load) shows(path, kind, want string) {
	if a := l.asAdmin(http.StatusOK, "GET", path, nil); a != nil && a.Text(kind, "description") != want {
		l.fault("GET %s: the description is %q, acknowledged was %q", path, a.Text(kind, "description"), want)
	}
}

// user is changed, by a route that both serve, and shown by Python alone.
func (l *load) user() {
	l.mu.Lock()
	if len(l.users) == 0 {
		l.mu.Unlock()
		return
	}
	// Nobody else changes the user meanwhile.
	id := pick(slices.Sorted(maps.Keys(l.users)))
	delete(l.users, id)
	l.mu.Unlock()
	want := unique("description")
	if l.asAdmin(http.StatusOK, "PATCH", "/v3/users/"+id, m{"user": m{"description": want}}) == nil {
		return
	}
	l.wrote()
	l.shows("/v3/users/"+id, "user", want)
	l.mu.Lock()
	l.users[id] = want
	l.mu.Unlock()
}

// make makes a user, which is Python's alone.
func (l *load) make() {
	a := l.asAdmin(http.StatusCreated, "POST", "/v3/users", m{"user": m{"name": unique("user"), "description": "new"}})
	if a != nil {
		l.wrote()
		l.mu.Lock()
		l.users[a.Text("user", "id")] = "new"
		l.mu.Unlock()
	}
}
