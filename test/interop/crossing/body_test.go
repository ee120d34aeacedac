//go:build interop

package crossing_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// unordered are the lists that Python makes of sets and of rows in no order.
var unordered = []string{"roles", "methods", "catalog", "endpoints", "projects", "domains", "regions", "users", "tags"}

// sorted gives a value with such lists in one order, and with links that do
// not name the server asked.
func sorted(v any, server string) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			e = sorted(e, server)
			if link, ok := e.(string); ok && (k == "self" || k == "next" || k == "previous") {
				e = strings.Replace(link, server, "http://asked", 1)
			}
			if l, ok := e.([]any); ok && slices.Contains(unordered, k) {
				l = slices.Clone(l)
				slices.SortFunc(l, func(a, b any) int { return strings.Compare(text(a), text(b)) })
				e = l
			}
			out[k] = e
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = sorted(e, server)
		}
		return out
	}
	return v
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// body is an answer's, fit to be compared.
func body(s *peer.Server, a peer.Answer) any { return sorted(map[string]any(a.JSON()), s.URL) }

// same makes a call on both servers, whose answers must be alike.
func (c *cloud) same(t *testing.T, what string, do call) peer.Answer {
	t.Helper()
	py, ours := c.Python.Do(t, do), c.Go.Do(t, do)
	if py.Status != ours.Status {
		t.Errorf("%s: %s %s: Python answers %v\nwe answer %v", what, do.Method, do.Path, py, ours)
		return ours
	}
	if d := cmp.Diff(body(c.Python, py), body(c.Go, ours)); d != "" {
		t.Errorf("%s: %s %s: the bodies differ (-Python +ours):\n%s", what, do.Method, do.Path, d)
	}
	return ours
}

// metric gives a value of the metrics' text.
func metric(t *testing.T, text, name string) float64 {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// eventually waits for something that takes its time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 300 {
		if is() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("after 30 s it does not hold that %s", what)
}
