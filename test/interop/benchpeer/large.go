package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// goalLarge is the share of Python's time that a list of a large cloud may
// take.
const goalLarge = 0.05

// LargeRow is what one request of a large cloud came to: the median of its
// time from the first byte sent to the last one read, in milliseconds.
type LargeRow struct {
	Request, Against  string
	PythonMS, GoMS    float64
	Share, Goal       float64
	Runs              int
	Rows, Bytes       int
	Same              bool // both answer the same, but for the order of lists
	PythonRows, PyLen int
}

// asked is a request; list is the key of the answer's list.
type asked struct {
	name, path, list string
	// uncached is what Python answers by 500 with memcached, which takes no
	// value of that size.
	uncached bool
}

var large = []asked{
	{name: "users", path: "/v3/users", list: "users"},
	{name: "users, a page", path: "/v3/users?limit=1000", list: "users"},
	{name: "projects", path: "/v3/projects", list: "projects"},
	{name: "catalog", path: "/v3/auth/catalog", list: "catalog"},
	{name: "validation", path: "/v3/auth/tokens", list: "token"},
	{name: "role assignments, effective", path: "/v3/role_assignments?effective", list: "role_assignments", uncached: true},
}

// benchLarge measures the lists of a large cloud against Python with memcached,
// and then without.
func benchLarge(length time.Duration, rounds int) (rows []LargeRow, err error) {
	e, err := peer.Open(peer.Options{
		Processes: 2, Cache: peer.PyMemcache,
		// Whole lists: what bounds them else is 1,000.
		Conf: peer.Conf{"DEFAULT": {"max_db_limit": "1000000"}},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := e.Close(); err == nil {
			err = e
		}
	}()
	if err := fill(e); err != nil {
		return nil, err
	}
	admin, err := login(e, peer.OnProject("admin"))
	if err != nil {
		return nil, err
	}
	against := func(name string) error {
		for _, a := range large {
			if a.uncached && name == withMemcached {
				continue
			}
			r, err := a.compare(e, admin, length, rounds)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", a.name, name, err)
			}
			r.Against = name
			rows = append(rows, r)
			fmt.Fprintf(os.Stderr, "%s, %s: %.1f ms there, %.2f here\n", a.name, name, r.PythonMS, r.GoMS)
		}
		return nil
	}
	if err := against(withMemcached); err != nil {
		return nil, err
	}
	if err := withoutCache(e); err != nil {
		return nil, err
	}
	return rows, against(asDefault)
}

// tooSlow is from when on a request is not made again.
const tooSlow = time.Minute

// compare has the servers answer in turns, each turn for so long, once at the
// least.
func (a asked) compare(e *peer.Env, token string, length time.Duration, rounds int) (LargeRow, error) {
	row := LargeRow{Request: a.name, Goal: goalLarge}
	var took [2][]time.Duration
	var forms [2]string
	slow := false
	addresses := strings.NewReplacer(e.Python.URL, "http://here", e.Go.URL, "http://here")
	for i, s := range e.Servers() {
		body, d, err := a.ask(s, token)
		if err != nil {
			return row, fmt.Errorf("%s: %w\n%s", s.Name, err, s.Log())
		}
		took[i] = append(took[i], d)
		slow = slow || d > tooSlow
		n, form, err := a.form(addresses.Replace(string(body)))
		if err != nil {
			return row, fmt.Errorf("%s: %w", s.Name, err)
		}
		if forms[i] = form; i == 0 {
			row.PythonRows, row.PyLen = n, len(body)
		} else {
			row.Rows, row.Bytes = n, len(body)
		}
	}
	row.Same = forms[0] == forms[1]
	if slow {
		rounds = 0 // the first answer says enough
	} else {
		took = [2][]time.Duration{}
	}
	for range rounds {
		for i, s := range e.Servers() {
			for start, first := time.Now(), true; first || time.Since(start) < length; first = false {
				_, d, err := a.ask(s, token)
				if err != nil {
					return row, fmt.Errorf("%s: %w", s.Name, err)
				}
				took[i] = append(took[i], d)
			}
		}
	}
	row.PythonMS, row.GoMS, row.Runs = middle(took[0]), middle(took[1]), len(took[0])
	row.Share = row.GoMS / row.PythonMS
	return row, nil
}

func middle(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}

// patient waits for as long as a list takes.
var patient = http.Client{Timeout: time.Hour}

func (a asked) ask(s *peer.Server, token string) ([]byte, time.Duration, error) {
	r, err := http.NewRequest("GET", s.URL+a.path, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("X-Auth-Token", token)
	r.Header.Set("X-Subject-Token", token)
	start := time.Now()
	resp, err := patient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %.300s", a.path, resp.StatusCode, body)
	}
	return body, time.Since(start), err
}

// form counts the rows of the answer's list, and writes it in an order that is
// no server's own.
func (a asked) form(body string) (rows int, form string, err error) {
	o, err := pyjson.DecodeObject([]byte(body))
	if err != nil {
		return 0, "", err
	}
	list, _ := o.Get(a.list)
	if all, isList := list.([]any); isList {
		rows = len(all)
	} else {
		rows = 1
	}
	return rows, canonical(o), nil
}

func canonical(v any) string {
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, canonical(item))
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ",") + "]"
	case pyjson.Object:
		for _, m := range v {
			parts = append(parts, pyjson.Encode(m.Key)+":"+canonical(m.Value))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return pyjson.Encode(v)
}

// reportLarge prints the rows, and tells whether a goal was missed or an answer
// was another one.
func reportLarge(rows []LargeRow) (missed bool) {
	fmt.Printf("| request | against | rows | bytes | there: ms | here: ms | share |\n|%s\n", strings.Repeat("---|", 7))
	for _, r := range rows {
		fmt.Printf("| %s | %s | %d | %d | %.1f | %.2f | %.4f |\n", r.Request, r.Against, r.Rows, r.Bytes, r.PythonMS, r.GoMS, r.Share)
	}
	for _, r := range rows {
		word := "met"
		if r.Share > r.Goal {
			word, missed = "MISSED", true
		}
		fmt.Printf("%s against %s: %.4f of its time, the goal is %g: %s\n", r.Request, r.Against, r.Share, r.Goal, word)
		if !r.Same {
			missed = true
			fmt.Printf("%s against %s: ANOTHER ANSWER: %d rows and %d bytes there, %d and %d here\n", r.Request, r.Against, r.PythonRows, r.PyLen, r.Rows, r.Bytes)
		}
	}
	return missed
}
