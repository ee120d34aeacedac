package ratelimit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sources parses the Go files of this folder and those below it.
func sources(t *testing.T, each func(path string, f *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil {
			files++
			each(filepath.ToSlash(path), f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 15 {
		t.Fatalf("%d files found", files)
	}
}

func imports(f *ast.File) (paths []string) {
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// R149: nothing that parses what strangers send, or counts it, steps outside
// the rules of the language.
func TestR149(t *testing.T) {
	sources(t, func(path string, f *ast.File) {
		for _, p := range imports(f) {
			if p == "unsafe" || p == "C" {
				t.Errorf("%s imports %s", path, p)
			}
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:"+"linkname") {
					t.Errorf("%s has %s", path, c.Text)
				}
			}
		}
	})
}

// R146: engine, store and resolver need the standard library alone, and of the
// project only each other, so that they can be used without the rest of it.
func TestStandsAlone(t *testing.T) {
	const own = "github.com/keystone-go/keystone-go/"
	allowed := map[string]string{"memory": own + "ratelimit"}
	sources(t, func(path string, f *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || folder != "." && folder != "memory" && folder != "clientaddr" {
			return
		}
		for _, p := range imports(f) {
			if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && p != allowed[folder] {
				t.Errorf("%s imports %s", path, p)
			}
		}
	})
}

// R027: the time of day is read nowhere; time.Now stands in one place, for its
// monotonic reading.
func TestNoWallClock(t *testing.T) {
	wall := map[string]bool{"Unix": true, "UnixNano": true, "UnixMilli": true, "UnixMicro": true, "Until": true, "Round": true}
	sources(t, func(path string, f *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				x, _ := s.X.(*ast.Ident)
				now := x != nil && x.Name == "time" && s.Sel.Name == "Now"
				if wall[s.Sel.Name] || now && path != "clock.go" {
					t.Errorf("%s uses %s", path, s.Sel.Name)
				}
			}
			return true
		})
	})
}
