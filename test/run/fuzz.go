package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// target is one fuzz function and the folder of its package.
type target struct{ dir, name string }

// fuzzAll runs every fuzz target of the module in the working directory for
// the given time, one after another.
func fuzzAll(r *report, each string) error {
	targets, err := fuzzTargets(".")
	if err != nil {
		return err
	}
	for _, t := range targets {
		fmt.Fprintf(r.out, "fuzz %s %s for %s\n", t.dir, t.name, each)
		if err := goTest(r, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each, t.dir); err != nil {
			return err
		}
		fmt.Fprintln(r.out, r.fuzzed)
	}
	return nil
}

// fuzzTargets finds the fuzz functions below root, other modules left out.
func fuzzTargets(root string) ([]target, error) {
	var targets []target
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return leaveOut(root, path, d)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzFunc.FindAllSubmatch(source, -1) {
			targets = append(targets, target{"./" + filepath.ToSlash(filepath.Dir(path)), string(m[1])})
		}
		return nil
	})
	return targets, err
}

func leaveOut(root, path string, d fs.DirEntry) error {
	if path == root {
		return nil
	}
	if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "build" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
