package peer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// M is short for a JSON object.
type M = map[string]any

// Call is a request to be sent to either server.
type Call struct {
	Method, Path string
	Body         any // string as it is, else JSON
	Token        string
	Subject      string
	Header       map[string]string
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON is the body decoded, nil when it is no JSON object.
func (a Answer) JSON() M {
	var v M
	_ = json.Unmarshal([]byte(a.Body), &v)
	return v
}

// At follows keys, and indexes of lists, into the body; nil when one is
// missing.
func (a Answer) At(path ...any) any {
	var v any = a.JSON()
	for _, p := range path {
		switch k := p.(type) {
		case string:
			m, _ := v.(M)
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

// Text is At for a string, "" when there is none.
func (a Answer) Text(path ...any) string {
	s, _ := a.At(path...).(string)
	return s
}

func (a Answer) String() string { return fmt.Sprintf("%d %.600s", a.Status, a.Body) }

// uwsgi closes each connection of its http-socket.
var client = http.Client{
	Timeout:   2 * time.Minute,
	Transport: &http.Transport{MaxIdleConnsPerHost: 16},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

// Send makes a call on a base URL.
func Send(base string, c Call) (Answer, error) {
	var body io.Reader
	switch b := c.Body.(type) {
	case nil:
	case string:
		body = bytes.NewReader([]byte(b))
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(c.Method, base+c.Path, body)
	if err != nil {
		return Answer{}, err
	}
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
	resp, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(text)}, err
}

// Do makes a call on the server.
func (s *Server) Do(t testing.TB, c Call) Answer {
	t.Helper()
	a, err := Send(s.URL, c)
	if err != nil {
		t.Fatalf("%s: %s %s: %v\n%s", s.Name, c.Method, c.Path, err, s.Log())
	}
	return a
}

// Want makes a call that must be answered by the status.
func (s *Server) Want(t testing.TB, status int, c Call) Answer {
	t.Helper()
	a := s.Do(t, c)
	if a.Status != status {
		t.Fatalf("%s: %s %s: got %v, want %d", s.Name, c.Method, c.Path, a, status)
	}
	return a
}

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

// OnSystem is the scope of the whole cloud.
func OnSystem() M { return M{"system": M{"all": true}} }

// Token logs in and gives the token.
func (s *Server) Token(t testing.TB, name, password string, scope any) string {
	t.Helper()
	a := s.Want(t, http.StatusCreated, Call{Method: "POST", Path: "/v3/auth/tokens", Body: Login(name, password, scope)})
	return a.Header.Get("X-Subject-Token")
}

// Admin gives a project-scoped token of the bootstrap administrator.
func (s *Server) Admin(t testing.TB) string {
	t.Helper()
	return s.Token(t, "admin", Password, OnProject("admin"))
}
