// Package docs_test checks what no compiler does: that links lead somewhere,
// that the architecture table is true, and that every file keeps the house rules.
package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the top of the project.
const root = "../.."

// files gives the text files of the project by slashed path from the root.
func files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch rel {
		case ".git", "build", "state":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // a work tree of a repository elsewhere has a file there
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.ContainsRune(text[:min(len(text), 8000)], 0) {
			found[rel] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found["go.mod"] == "" || len(found) < 50 {
		t.Fatalf("found %d files, go.mod among them: %v", len(found), found["go.mod"] != "")
	}
	return found
}

// Paths as they are on one person's machine, and words of unfinished work.
var (
	machinePath = regexp.MustCompile(`(?:^|[^\w.~-])(/(?:work|farm|home|root|Users)/\S*)`)
	unfinished  = regexp.MustCompile(`\b(?:TO` + `DO|FIX` + `ME)\b`)
)

// longest is the most lines that a Go file may have, tests and generated files aside.
const longest = 500

func TestHouseRules(t *testing.T) {
	for name, text := range files(t) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		if m := machinePath.FindStringSubmatch(text); m != nil {
			t.Errorf("%s names a path of one machine: %s", name, m[1])
		}
		if path.Ext(name) != ".go" {
			continue
		}
		if m := unfinished.FindString(text); m != "" {
			t.Errorf("%s holds a %s", name, m)
		}
		generated := strings.Contains(text, "\n// Code generated ") || strings.HasPrefix(text, "// Code generated ")
		if n := strings.Count(text, "\n"); n > longest && !strings.HasSuffix(name, "_test.go") && !generated {
			t.Errorf("%s has %d lines, the most is %d", name, n, longest)
		}
	}
}
