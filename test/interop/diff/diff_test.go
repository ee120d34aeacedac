package diff_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/test/interop/diff"
)

func answer(status int, body string, header ...string) diff.Answer {
	a := diff.Answer{Status: status, Body: body, Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

// A comparison that cannot tell two answers apart would pass everything.
func TestCompare(t *testing.T) {
	const login = `{"token": {"audit_ids": ["AAAAAAAAAAAAAAAAAAAAAA"], "issued_at": "2026-01-02T03:04:05.000000Z", "roles": [{"id": "a"}, {"id": "b"}], "user": {"id": "u"}}}`
	const lived = `{"token": {"methods": ["password"], "issued_at": "2026-01-02T03:04:05.000000Z", "expires_at": "2026-01-02T04:04:06.000000Z"}}`
	later := strings.NewReplacer("AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBB", "03:04:05", "13:14:15").Replace(login)
	for name, tt := range map[string]struct {
		method string
		a, b   diff.Answer
		want   []string
	}{
		"equal":                 {"GET", answer(200, login), answer(200, login), nil},
		"times of two logins":   {"POST", answer(201, login), answer(201, later), nil},
		"times of a validation": {"GET", answer(200, login), answer(200, later), []string{`$.token.audit_ids[0]: "AAAAAAAAAAAAAAAAAAAAAA", here "BBBBBBBBBBBBBBBBBBBBBB"`, `$.token.issued_at: "2026-01-02T03:04:05.000000Z", here "2026-01-02T13:14:15.000000Z"`}},
		"a time of wrong form":  {"POST", answer(201, login), answer(201, strings.Replace(login, ".000000Z", "Z", 1)), []string{`$.token.issued_at: "\u003cnow\u003e", here "2026-01-02T03:04:05Z"`}},
		"other lifetime":        {"POST", answer(201, lived), answer(201, strings.Replace(lived, "04:04:06", "05:04:05", 1)), []string{`$.token.lifetime: "1h0m0s", here "2h0m0s"`}},
		"order of a set":        {"GET", answer(200, login), answer(200, strings.Replace(login, `{"id": "a"}, {"id": "b"}`, `{"id": "b"}, {"id": "a"}`, 1)), nil},
		"order of a list":       {"GET", answer(200, `{"x": {"y": ["a", "b"]}}`), answer(200, `{"x": {"y": ["b", "a"]}}`), []string{`$.x.y[0]: "a", here "b"`, `$.x.y[1]: "b", here "a"`}},
		"missing":               {"GET", answer(200, login), answer(200, strings.Replace(login, `, "user": {"id": "u"}`, "", 1)), []string{`$.token.user: {"id":"u"}, missing here`}},
		"more":                  {"GET", answer(200, `{"a": 1}`), answer(200, `{"a": 1, "b": null}`), []string{`$.b: missing, here null`}},
		"null":                  {"GET", answer(200, `{"a": null}`), answer(200, `{"a": ""}`), []string{`$.a: null, here ""`}},
		"status":                {"GET", answer(403, `{"error":{"message":"no"}}`), answer(404, ``), []string{`status: 403 (no), here 404`}},
		"header":                {"GET", answer(401, "", "Www-Authenticate", "a"), answer(401, "", "Www-Authenticate", "b"), []string{`header Www-Authenticate: "a", here "b"`}},
		"header gone":           {"GET", answer(200, "", "X-Subject-Token", "t"), answer(200, ""), []string{`header X-Subject-Token: there true, here false`}},
		"a header more":         {"GET", answer(200, "", "Date", "x"), answer(200, "", "X-Color", "red"), []string{`header X-Color: there false, here true`}},
		"order of Allow":        {"PUT", answer(405, "", "Allow", "GET, HEAD"), answer(405, "", "Allow", "HEAD, GET"), nil},
		"line end":              {"GET", answer(200, "{}\n"), answer(200, "{}"), []string{"body: the line end behind it"}},
		"spaces":                {"GET", answer(200, `{"a": 1}`), answer(200, `{"a":1}`), []string{"body: the spaces between its parts"}},
		"no JSON":               {"GET", answer(200, `{}`), answer(200, `<p>`), []string{`body: JSON, here "<p>"`}},
		"text":                  {"GET", answer(200, `a`), answer(200, `b`), []string{`body: "a", here "b"`}},
		"words of a schema":     {"POST", answer(400, `{"error": {"message": "5 is not of type 'string'"}}`), answer(400, `{"error": {"message": "Invalid input: name."}}`), nil},
		"other words":           {"POST", answer(400, `{"error": {"message": "Cannot change ID"}}`), answer(400, `{"error": {"message": "Cannot change it"}}`), []string{`$.error.message: "Cannot change ID", here "Cannot change it"`}},
		"a token":               {"GET", answer(404, `{"a": "gAAAAABxyz"}`), answer(404, `{"a": "b"}`), []string{`$.a: "gAAAAA…", here "b"`}},
		"broken":                {"GET", diff.Answer{Broken: "no answer"}, answer(200, ""), []string{`broken: "no answer", here "200"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, diff.Compare(tt.method, tt.a, tt.b)); d != "" {
				t.Error(d)
			}
		})
	}
}

// server answers logins with tokens of its own, and everything else with what
// it is told.
func server(t *testing.T, name, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			w.Header().Set("X-Subject-Token", "token-of-"+name)
			w.WriteHeader(http.StatusCreated)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, body, r.Header.Get("X-Auth-Token"))
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	document := write("divergences.md", "\n## D-01 One\n\n## D-02 Two\n")
	list := write("listed.yaml", "- {in: run, step: s/shown, line: '\\$\\.color', reason: D-01, why: taste}\n- {in: run, step: s/other, line: x, reason: D-02, why: gone}\n")
	lists, err := diff.LoadLists(dir, document)
	if err != nil {
		t.Fatal(err)
	}
	write("s.yaml", "scenario: s\nabout: x\nsteps:\n- {name: log in, method: POST, path: /, keep: {mine: header X-Subject-Token}}\n- {name: shown, method: GET, path: '/${mine}', as: mine}\n")
	_, err = diff.Load(dir)
	if err == nil {
		t.Fatal("the list was taken for a scenario")
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	scenarios, err := diff.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for ours, want := range map[string]string{
		`{"who": "%s", "color": "red"}`:            "2 compared, 2 equal, 0 listed (), 0 not listed",
		`{"who": "%s", "color": "blue"}`:           "2 compared, 1 equal, 1 listed (D-01 1), 0 not listed",
		`{"who": "%s", "color": "blue", "new": 1}`: "2 compared, 1 equal, 0 listed (), 1 not listed",
	} {
		r := diff.Run{Reference: server(t, "a", `{"who": "%s", "color": "red"}`), Ours: server(t, "b", ours), Lists: lists.For("run"), Fail: func(string, []string) {}}
		if err := r.Scenario(t.Context(), scenarios[0]); err != nil {
			t.Fatal(err)
		}
		if got := r.Report.String(); got != want {
			t.Errorf("%s: got %s, want %s", ours, got, want)
		}
	}
	if unused := lists.Unused(); len(unused) != 1 || !strings.Contains(unused[0], "s/other") {
		t.Errorf("unused: %q, want s/other", unused)
	}
	if len(lists.For("else")) != 0 {
		t.Error("another run got the entries of this one")
	}
}

// What a list says must be in the document, and say what is answered here.
func TestLoadLists(t *testing.T) {
	dir := t.TempDir()
	document := filepath.Join(dir, "divergences.md")
	if err := os.WriteFile(document, []byte("\n## D-01 One\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for entry, want := range map[string]string{
		`{in: run, step: x, line: y, reason: D-01, why: z}`:                                       "",
		`{in: run, step: x, line: '(broken|status: 500).*, here "?400 \(', reason: D-01, why: z}`: "",
		`{in: run, step: x, line: y, reason: D-03, why: z}`:                                       `has no "D-03"`,
		`{in: run, step: x, line: y, reason: D-01}`:                                               "lacks in, step, line or why",
		`{in: run, step: x, line: 'broken:|status: 500', reason: D-01, why: z}`:                   "does not say what is answered here",
		`{in: run, step: x, line: 'header Content-Type: "text/html|body:', reason: D-01, why: z}`: "does not say what is answered here",
		`{in: run, step: x, line: 'status: 200', reason: D-01, why: z}`:                           "does not say what is answered here",
		`{in: run, step: x, line: '(user|role): .*', reason: D-01, why: z}`:                       "would take any row",
	} {
		if err := os.WriteFile(filepath.Join(dir, "listed.yaml"), []byte("- "+entry+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := diff.LoadLists(dir, document)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", entry, err, want)
		}
	}
}

// A fixture that the server refuses compares nothing afterwards.
func TestPrepare(t *testing.T) {
	addr := server(t, "a", `{"who": "%s"}`)
	vars := map[string]string{diff.Administrator: "boss"}
	steps := []diff.Step{
		{Name: "log in", Method: "POST", Path: "/", Keep: map[string]string{"mine": "header X-Subject-Token"}},
		{Name: "use it", Method: "GET", Path: "/", As: "mine", Keep: map[string]string{"who": "body who"}},
		{Name: "as whom", Method: "GET", Path: "/", Keep: map[string]string{"by default": "body who"}},
	}
	got, err := diff.Prepare(t.Context(), addr, steps, vars)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"mine": "token-of-a", "who": "token-of-a", "by default": "boss"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	steps[0].Status = 204
	if _, err := diff.Prepare(t.Context(), addr, steps, vars); err == nil {
		t.Error("a step with another status than its own was taken")
	}
}
