package main

import (
	"bytes"
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
		if err := r.fuzz(t, each); err != nil {
			return err
		}
		fmt.Fprintln(r.out, r.fuzzed)
	}
	return nil
}

// fuzz runs one target, and again where go failed at the end of the time.
func (r *report) fuzz(t target, each string) error {
	for again := range 2 {
		var said bytes.Buffer
		one := newReport(&said)
		// Left alone, making an interesting input smaller takes up to a minute in
		// which nothing is tried: all of a short run.
		if err := goTest(one, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each, "-fuzzminimizetime", "100x", t.dir); err != nil {
			return err
		}
		if again == 0 && one.failed == 1 && onlyLate(said.String()) {
			fmt.Fprintf(r.out, "     no input failed, go met its own deadline: once more\n")
			continue
		}
		r.passed, r.failed, r.skipped, r.fuzzed = r.passed+one.passed, r.failed+one.failed, r.skipped+one.skipped, one.fuzzed
		_, err := said.WriteTo(r.out)
		return err
	}
	return nil
}

// onlyLate: go before 1.27 may take the end of -fuzztime for a failure, in which
// case no input was found (https://go.dev/issue/75804).
func onlyLate(said string) bool {
	return strings.Contains(said, "context deadline exceeded") && !strings.Contains(said, "Failing input written")
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
