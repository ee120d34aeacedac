package v3_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

//go:generate go test -count=1 -run ^TestRoutesDocument$ . -update

var update = flag.Bool("update", false, "write docs/routes.md anew")

// wanted is a row of Python Keystone's API.
type wanted struct {
	area, method, path, rule string
	open                     bool
}

func (w wanted) key() string { return w.method + " " + w.path }

// python reads the rows of Python Keystone that do something.
func python(t *testing.T) []wanted {
	t.Helper()
	text, err := os.ReadFile("../../test/testdata/api/routes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []wanted
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 || !strings.HasPrefix(f[13], "kind=real") {
			continue
		}
		rows = append(rows, wanted{area: f[0], method: f[1], path: f[2], rule: f[4], open: f[7] == "y"})
	}
	return rows
}

// served are our rows by method and path.
func served() map[string]v3.Route {
	rows := map[string]v3.Route{}
	for _, r := range v3.WithHeads(v3.Table(v3.Resources{})) {
		rows[r.Method+" "+r.Path] = r
	}
	return rows
}

// openRows ask nobody who he is. A row is added here by hand, or not at all.
var openRows = map[string]ratelimit.Class{
	"GET /":                             ratelimit.ClassExempt,
	"HEAD /":                            ratelimit.ClassExempt,
	"GET /v3":                           ratelimit.ClassExempt,
	"HEAD /v3":                          ratelimit.ClassExempt,
	"GET /healthcheck":                  ratelimit.ClassExempt,
	"HEAD /healthcheck":                 ratelimit.ClassExempt,
	"POST /v3/auth/tokens":              ratelimit.ClassAuth,
	"POST /v3/users/{user_id}/password": ratelimit.ClassAuth,
}

// own tells the rows that Python Keystone does not have.
func own(r v3.Route) bool { return strings.HasPrefix(r.Rule, "keystone_go:") }

// Each rule of our own guards a row, and each such row stands below a path of
// our own or below the object that it is about.
func TestOwnRows(t *testing.T) {
	guarded := map[string]bool{}
	for key, r := range served() {
		if !own(r) {
			continue
		}
		guarded[r.Rule] = true
		if !strings.HasPrefix(r.Path, "/v3/keystone-go/") && r.Path != "/v3/users/{user_id}/lockout" {
			t.Errorf("%s: no path of ours", key)
		}
	}
	for _, r := range policy.Own {
		if !guarded[r.Name] {
			t.Errorf("%s guards no row", r.Name)
		}
		if r.Check != "rule:admin_required" {
			t.Errorf("%s: %s, want admins alone", r.Name, r.Check)
		}
	}
}

func TestRoutesHaveRuleAndLimit(t *testing.T) {
	defaults := map[string]policy.Rule{}
	for _, r := range slices.Concat(policy.Defaults, policy.Own) {
		defaults[r.Name] = r
	}
	seen := 0
	for key, r := range served() {
		class, open := openRows[key]
		if open {
			seen++
		}
		switch rule, known := defaults[r.Rule]; {
		case open && (r.Rule != v3.Open || r.Limit != class):
			t.Errorf("%s: rule %q, limit %q, in the list of open rows", key, r.Rule, r.Limit)
		case open && r.Limit == ratelimit.ClassExempt && r.Exempt == "":
			t.Errorf("%s: exempt from limits without a reason", key)
		case !open && !known:
			t.Errorf("%s: rule %q does not exist, and the row is not in the list of open rows", key, r.Rule)
		case !open && r.Limit != ratelimit.ClassToken:
			t.Errorf("%s: limit %q", key, r.Limit)
		// A rule of a GET is its HEAD's too.
		case !open && !slices.Contains(rule.Operations, key) && !slices.Contains(rule.Operations, strings.Replace(key, "HEAD ", "GET ", 1)):
			t.Errorf("%s: rule %s is for %v", key, r.Rule, rule.Operations)
		}
	}
	if seen != len(openRows) {
		t.Errorf("%d open rows are served, the list has %d", seen, len(openRows))
	}
}

// sameRules reports whether a row asks the rules that Python's asks. What Python
// asks twice, for HEAD and again as for GET, is asked once.
func sameRules(r v3.Route, python string) bool {
	all := strings.Split(python, " || ")
	if r.Method == "HEAD" && r.Rule == "identity:check_implied_role" {
		return slices.Contains(all, r.Rule)
	}
	ours := []string{r.Rule}
	if r.Other != "" {
		ours = append(ours, r.Other)
	}
	slices.Sort(all)
	slices.Sort(ours)
	return slices.Equal(all, ours)
}

func TestRoutesArePythons(t *testing.T) {
	rows := python(t)
	if len(rows) != 347 {
		t.Fatalf("Python has %d rows, want 347", len(rows))
	}
	known := map[string]wanted{}
	for _, w := range rows {
		known[w.key()] = w
	}
	for key, r := range served() {
		w, ok := known[key]
		if own(r) {
			if ok {
				t.Errorf("%s: Python has this row, with the rule %q", key, w.rule)
			}
			continue
		}
		if !ok {
			t.Errorf("%s: Python has no such row", key)
			continue
		}
		if !sameRules(r, w.rule) || (r.Rule == v3.Open) != w.open {
			t.Errorf("%s: rule %q, in Python %q, open %v", key, r.Rule, w.rule, w.open)
		}
	}
}

// The document that clients discover names the paths that are served.
func TestRoutesAreInTheHomeDocument(t *testing.T) {
	text, err := os.ReadFile("jsonhome.json")
	if err != nil {
		t.Fatal(err)
	}
	var home struct {
		Resources map[string]map[string]any
	}
	if err := json.Unmarshal(text, &home); err != nil {
		t.Fatal(err)
	}
	for key, r := range served() {
		if r.Rel == "" {
			if r.Limit != ratelimit.ClassExempt && !own(r) {
				t.Errorf("%s: no relation", key)
			}
			continue
		}
		rel := r.Rel
		if !strings.HasPrefix(rel, "ext/") {
			rel = "rel/" + rel
		}
		res := home.Resources["https://docs.openstack.org/api/openstack-identity/3/"+rel]
		path := strings.TrimPrefix(r.Path, "/v3")
		template, _ := res["href-template"].(string)
		// Python registers the tags of a project and one of them under one name:
		// the document keeps the latter.
		if r.Rel == "project_tags" {
			template, _, _ = strings.Cut(template, "/{value}")
			path = strings.TrimSuffix(path, "/{value}")
		}
		if res["href"] != path && template != path {
			t.Errorf("%s: relation %s is %v", key, r.Rel, res)
		}
	}
}

func TestRoutesDocument(t *testing.T) {
	const file = "../../docs/routes.md"
	want := document(python(t), served())
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		tellReadme(t, want)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not current; go generate ./api/v3 writes it anew: %s", file, d)
	}
}

// tellReadme writes the number of rows into README.md, which has it as well.
func tellReadme(t *testing.T, routes []byte) {
	t.Helper()
	const file = "../../README.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := regexp.MustCompile(`\*\*(\d+) of (\d+)\*\*`).FindSubmatch(routes)
	text = regexp.MustCompile(`\[\d+ of Python Keystone's \d+ routes\]`).ReplaceAll(text, fmt.Appendf(nil, "[%s of Python Keystone's %s routes]", n[1], n[2]))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func document(rows []wanted, ours map[string]v3.Route) []byte {
	all, done := map[string]int{}, map[string]int{}
	var areas []string
	total := 0
	for _, w := range rows {
		if all[w.area] == 0 {
			areas = append(areas, w.area)
		}
		all[w.area]++
		if _, ok := ours[w.key()]; ok {
			done[w.area]++
			total++
		}
	}
	slices.Sort(areas)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Routes\n\nWritten by `go generate ./api/v3` from the route table; do not edit.\n\n"+
		"Served: **%d of %d** method and path pairs of Python Keystone (HEAD counted). Rows that Python Keystone has but always\n"+
		"refuses, or that break there, are not counted.\n\n## By area\n\n| area | served | of |\n|---|---|---|\n", total, len(rows))
	for _, a := range areas {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", a, done[a], all[a])
	}
	b.WriteString("\n## Served\n\n`auth`: the limit by address is charged before the body is read. `token`: it is charged when X-Auth-Token is missing or\n" +
		"invalid. `exempt`: never.\n\n| method | path | rule | limit |\n|---|---|---|---|\n")
	for _, w := range rows {
		r, ok := ours[w.key()]
		if !ok {
			continue
		}
		rule, limit := "`"+r.Rule+"`", string(r.Limit)
		if r.Rule == v3.Open {
			rule = "open"
		}
		if r.Exempt != "" {
			limit += ": " + r.Exempt
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", w.method, w.path, rule, limit)
	}
	b.WriteString("\n## Our own\n\nPython Keystone has none of these; they are in no count above. Their rules are for administrators.\n\n| method | path | rule | limit |\n|---|---|---|---|\n")
	var mine []string
	for _, r := range ours {
		if own(r) {
			mine = append(mine, fmt.Sprintf("| %s | `%s` | `%s` | %s |\n", r.Method, r.Path, r.Rule, r.Limit))
		}
	}
	slices.Sort(mine)
	b.WriteString(strings.Join(mine, ""))
	b.WriteString("\n## Not served yet\n\n| method | path | rule |\n|---|---|---|\n")
	for _, w := range rows {
		if _, ok := ours[w.key()]; !ok {
			rule := "open"
			if w.rule != "" {
				rule = "`" + strings.ReplaceAll(w.rule, " || ", "`, `") + "`"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", w.method, w.path, rule)
		}
	}
	return b.Bytes()
}
