package ratelimit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	row    = regexp.MustCompile(`(?m)^\| (R\d{3}|B\d\d|RL-[A-Z]\d+b?) \|(?: [^|]+ \|)?? ([a-z]+)(: [^|]*)? \| ([a-z]*) ?\| ([^|]*) ?\|$`)
	anyRow = regexp.MustCompile(`(?m)^\| (R\d{3}|B\d\d|RL-[A-Z]\d+b?) \|`)
	// built says that a file is not part of every build, so that make test may
	// leave it out.
	built    = regexp.MustCompile(`(?m)^//go:build `)
	testName = regexp.MustCompile("`([^`]+)`")
)

// tests are the names of the test functions that make test runs, as
// folder.Name, and for each file the texts that may be names of subtests.
type tests map[string]map[string]bool

func allTests(t *testing.T) tests {
	t.Helper()
	found := tests{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." {
			_, err := os.Stat(filepath.Join(path, "go.mod")) // another module
			if err == nil || d.Name() == "testdata" || d.Name() == "build" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(path, "_test.go") {
			return found.add(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (ts tests) add(path string) error {
	source, err := os.ReadFile(path)
	if err != nil || built.Match(source) {
		return err
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
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
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			ts[filepath.Base(dir)+"."+fn.Name.Name] = texts
		}
	}
	return nil
}

func (ts tests) has(name string) bool {
	fn, sub, isSub := strings.Cut(name, "/")
	texts, ok := ts[fn]
	return ok && (!isSub || texts[sub])
}

// What the document says is shown by a test has that test, run by make test, and
// it leaves out no requirement; what waits has one of what holds meanwhile.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/ratelimit.md")
	if err != nil {
		t.Fatal(err)
	}
	known, seen, done := allTests(t), map[string]bool{}, 0
	rows := row.FindAllStringSubmatch(string(text), -1)
	if all := anyRow.FindAllString(string(text), -1); len(rows) != len(all) {
		t.Errorf("%d of %d rows have the form of a row", len(rows), len(all))
	}
	for _, m := range rows {
		id, state, reason, names := m[1], m[2], m[3], testName.FindAllStringSubmatch(m[5], -1)
		if seen[id] {
			t.Errorf("%s stands twice", id)
		}
		seen[id] = true
		switch {
		case state == "done" && len(names) == 0 && reason == "", state == "waits" && len(names) == 0:
			t.Errorf("%s: %s, and names no test", id, state)
		case state != "done" && (state != "waits" && state != "refused" || reason == ""):
			t.Errorf("%s: %s%s is no state with a reason", id, state, reason)
		}
		for _, n := range names {
			if !known.has(n[1]) {
				t.Errorf("%s: make test runs no test %s", id, n[1])
			}
		}
		if state == "done" {
			done++
		}
	}
	var want []string
	for n := 1; n <= 151; n++ {
		want = append(want, fmt.Sprintf("R%03d", n))
	}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17, 18, 19, 24, 28, 29} {
		want = append(want, fmt.Sprintf("B%02d", n))
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
	t.Logf("%d rows, %d done", len(rows), done)
}
