package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// target is one fuzz function and the folder of its package.
type target struct{ dir, name string }

// fuzzAll runs every fuzz target of the module in the working directory for
// the given time, as many at once as there are cores, with one worker each.
func fuzzAll(r *report, each string) error {
	targets, err := fuzzTargets(".")
	if err != nil {
		return err
	}
	var (
		turn   = make(chan struct{}, runtime.NumCPU())
		all    sync.WaitGroup
		mu     sync.Mutex
		faults []error
	)
	for _, t := range targets {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			one, said, err := fuzz(t, each)
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(r.out, "fuzz %s %s for %s\n%s%s\n", t.dir, t.name, each, said, one.fuzzed)
			r.passed, r.failed, r.skipped = r.passed+one.passed, r.failed+one.failed, r.skipped+one.skipped
			faults = append(faults, err)
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// fuzz runs one target, and again where go failed at the end of the time.
func fuzz(t target, each string) (one *report, said string, err error) {
	for again := range 2 {
		var out strings.Builder
		one = newReport(&out)
		// Left alone, making an interesting input smaller takes up to a minute in
		// which nothing is tried: all of a short run.
		err = goTest(one, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each, "-fuzzminimizetime", "100x", "-parallel", "1", t.dir)
		said += out.String()
		if err != nil || again > 0 || one.failed != 1 || !onlyLate(out.String()) {
			break
		}
		said += "     no input failed, go met its own deadline: once more\n"
	}
	return one, said, err
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
