package suites_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/suites"
)

func TestJudge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte("# a list\npass a\npass b\nwaits users c\nwaits users d\npython fail e\npass f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := suites.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	got, wrong := l.Judge([]suites.Outcome{{"a", "pass", ""}, {"b", "fail", "why"}, {"c", "fail", ""}, {"d", "pass", ""}, {"e", "fail", ""}, {"g", "skip", ""}})
	want := suites.Count{Passed: 2, Failed: 1, Waiting: map[string]int{"users": 1}, Python: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(wrong) != 4 {
		t.Errorf("wrong: %q, want b, d, f and g", wrong)
	}
}

// areas are those that are served: each is a file of diff_matrix, some by
// another name.
func areas(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../diff_matrix/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d families, %v", len(files), err)
	}
	named := map[string]string{"endpoint_filter": "OS-EP-FILTER", "inherit": "OS-INHERIT", "revoke_events": "OS-REVOKE"}
	served := map[string]bool{"implied_roles": true}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		served[name], served[named[name]] = true, true
	}
	return served
}

// The number of tests that wait may only fall: it stands in a file, and the
// lists must have that many. None waits for what is served: that would be a
// failure under another name.
func TestWaiting(t *testing.T) {
	files, err := filepath.Glob(harness.Testdata("suites/*.txt"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d lists, %v", len(files), err)
	}
	served := areas(t)
	n := 0
	for _, f := range files {
		if filepath.Base(f) == "waiting.txt" {
			continue
		}
		l, err := suites.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l {
			if e.Kind == suites.Waits {
				n++
			}
			if e.Kind == suites.Waits && served[e.Area] {
				t.Errorf("%s: %s waits for %s, which is served: it fails", filepath.Base(f), e.ID, e.Area)
			}
		}
	}
	limit, err := suites.Waiting(harness.Testdata("suites/waiting.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if n != limit {
		t.Errorf("%d tests wait, waiting.txt says %d: it may only fall, and falls with the lists", n, limit)
	}
}

func TestDraft(t *testing.T) {
	got := suites.Draft(
		[]suites.Outcome{{"a", "pass", ""}, {"b", "skip", ""}, {"c", "pass", ""}},
		[]suites.Outcome{{"a", "pass", ""}, {"c", "fail", ""}}, func(string) string { return "users" })
	if want := "pass a\npython skip b\nwaits users c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
