package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testsOf gives all test and fuzz functions as folder.Name, each with the texts
// of its file that may be names of subtests.
func testsOf(t *testing.T, all map[string]string) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	for name, text := range all {
		if !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil {
					texts[strings.ReplaceAll(s, " ", "_")] = true
				}
			}
			return true
		})
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && (strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "Fuzz")) {
				found[path.Base(path.Dir(name))+"."+fn.Name.Name] = texts
			}
		}
	}
	return found
}

func exists(all map[string]map[string]bool, name string) bool {
	fn, sub, isSub := strings.Cut(name, "/")
	texts, ok := all[fn]
	return ok && (!isSub || texts[sub])
}

var (
	threat     = regexp.MustCompile(`(?m)^\| ([STRIDE])(\d+) \| (.+) \| (.+) \| (.*) \|$`)
	openRisk   = regexp.MustCompile(`(?m)^\| O(\d+) \| \*\*.+\*\*.* \| (.+) \|$`)
	named      = regexp.MustCompile("`([^`]+)`")
	shownTest  = regexp.MustCompile(`^[a-z0-9-]+\.(?:Test|Fuzz)\w+(?:/\S+)?$`)
	metricName = regexp.MustCompile(`\bkeystone_[a-z_]+\b`)
)

// TestThreatModel: every threat names a mitigation and tests that exist, the
// numbers have no gap, all six kinds are there, and the open risks say what can
// be done.
func TestThreatModel(t *testing.T) {
	all := files(t)
	known := testsOf(t, all)
	text := all["docs/threat-model.md"]
	count := map[string]int{}
	rows := threat.FindAllStringSubmatch(text, -1)
	for _, m := range rows {
		id := m[1] + m[2]
		count[m[1]]++
		if m[2] != fmt.Sprint(count[m[1]]) {
			t.Errorf("%s stands in the place of %s%d", id, m[1], count[m[1]])
		}
		tests := named.FindAllStringSubmatch(m[5], -1)
		if len(tests) == 0 || len(strings.TrimSpace(m[4])) < 10 {
			t.Errorf("%s has no mitigation or no test: an open risk stands below", id)
		}
		for _, n := range tests {
			if !shownTest.MatchString(n[1]) || !exists(known, n[1]) {
				t.Errorf("%s: there is no test %s", id, n[1])
			}
		}
	}
	for _, kind := range "STRIDE" {
		if count[string(kind)] < 5 {
			t.Errorf("%c has %d threats", kind, count[string(kind)])
		}
	}
	risks := openRisk.FindAllStringSubmatch(text, -1)
	for i, m := range risks {
		if m[1] != fmt.Sprint(i+1) {
			t.Errorf("O%s stands in the place of O%d", m[1], i+1)
		}
	}
	for prefix, n := range map[string]int{"| O": len(risks), "| B": 8, "| A": 7} {
		if got := len(regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(prefix)+`\d+ \|`).FindAllString(text, -1)); got != n {
			t.Errorf("%d rows begin with %q, %d have the right form", got, prefix, n)
		}
	}
	t.Logf("%d threats, %d open risks", len(rows), len(risks))
}

// TestInvariantsAreNamed: the ten invariants have a test each, and CONTRIBUTING
// names it.
func TestInvariantsAreNamed(t *testing.T) {
	all := files(t)
	known := testsOf(t, all)
	for n := 1; n <= 10; n++ {
		name := fmt.Sprintf("TestInvariant%02d", n)
		if known["test."+name] == nil {
			t.Errorf("there is no test.%s", name)
		}
		if !strings.Contains(all["CONTRIBUTING.md"], "`"+name+"`") {
			t.Errorf("CONTRIBUTING.md does not name %s", name)
		}
	}
}

// TestMetricsInDocuments: a metric that a document or an alert names is one of
// the manual's.
func TestMetricsInDocuments(t *testing.T) {
	all := files(t)
	manual := all["docs/observability.md"]
	var ends []string
	for _, m := range regexp.MustCompile("`(_[a-z_]+)`").FindAllStringSubmatch(manual, -1) {
		ends = append(ends, m[1])
	}
	for _, name := range []string{"docs/production-checklist.md", "docs/ratelimit.md", "docs/threat-model.md", "docs/client-address.md", "docs/daemon.md"} {
		for _, m := range metricName.FindAllString(all[name], -1) {
			listed := slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(m, e) })
			if !strings.Contains(manual, "`"+m+"`") && !listed && !strings.HasPrefix(m, "keystone_go") { // a section's name, and those of tables
				t.Errorf("%s names %s, which docs/observability.md does not", name, m)
			}
		}
	}
}
