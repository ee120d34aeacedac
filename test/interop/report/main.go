// Command report writes what the parts of make interop have counted and
// measured as build/interop-report.md and build/interop-report.json. Its
// argument is the file of counts that build/run appends to.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const parts = "build/interop/report"

// whole is the report.
type whole struct {
	Tests []tests
	Diff  *struct {
		Compared, Equal, Listed, Unlisted int
		Rows, Actors                      int
		Reasons, Statuses                 map[string]int
	}
	Crossing *struct {
		BothWays, OneWay int
		Waiting          map[string]int
	}
	Suites map[string]struct {
		Passed, Failed, Python int
		Waiting                map[string]int
	}
	Rolling *struct {
		Seconds, Rate, Logins, Slowest float64
		Requests, Writes, Failures     int
	}
	Speed []struct {
		Scenario, Against                                               string
		PythonCPU, GoCPU, CPURatio, PythonRate, GoRate, RateRatio, Goal float64
	}
}

// tests are the counts of one run of tests.
type tests struct {
	Name                    string
	Passed, Failed, Skipped int
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report COUNTS")
		os.Exit(2)
	}
	var w whole
	err := w.read(os.Args[1])
	if err == nil {
		err = w.write()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (w *whole) read(counts string) error {
	text, err := os.ReadFile(counts)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		var (
			t  tests
			on int
		)
		if _, err := fmt.Sscanf(line, "%d %d %d %d %s", &t.Passed, &t.Failed, &t.Skipped, &on, &t.Name); err == nil && strings.HasPrefix(t.Name, "interop") {
			w.Tests = append(w.Tests, t)
		}
	}
	for name, into := range map[string]any{"diff": &w.Diff, "crossing": &w.Crossing, "suites": &w.Suites, "rolling": &w.Rolling, "speed": &w.Speed} {
		text, err := os.ReadFile(filepath.Join(parts, name+".json"))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (w *whole) write() error {
	text, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile("build/interop-report.json", append(text, '\n'), 0o644); err != nil {
		return err
	}
	var b strings.Builder
	w.markdown(&b)
	fmt.Print(b.String())
	return os.WriteFile("build/interop-report.md", []byte(b.String()), 0o644)
}

func (w *whole) markdown(out io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	line("# keystone-go beside Python Keystone\n")
	line("| tests | passed | failed | skipped |\n|---|---|---|---|")
	for _, t := range w.Tests {
		line("| %s | %d | %d | %d |", t.Name, t.Passed, t.Failed, t.Skipped)
	}
	if d := w.Diff; d != nil {
		line("\n## Answers compared\n\nEvery served row (%d) by %d actors, and scenarios: %d compared, %d equal, %d listed as different, %d different and not listed.", d.Rows, d.Actors, d.Compared, d.Equal, d.Listed, d.Unlisted)
		line("Listed: %s.", counted(d.Reasons))
	}
	if c := w.Crossing; c != nil {
		line("\n## Changes that the other server must know of\n\n%d kinds of change in both directions, %d by Python alone, which wait for: %s.", c.BothWays, c.OneWay, counted(c.Waiting))
	}
	if r := w.Rolling; r != nil {
		line("\n## Rolling in and out\n\n%.0f s, %d requests (%.1f a second, %.1f logins), %d acknowledged writes, %d failures; the slowest answer took %.1f s.",
			r.Seconds, r.Requests, r.Rate, r.Logins, r.Writes, r.Failures, r.Slowest)
	}
	if len(w.Suites) > 0 {
		line("\n## Clients and suites\n\n| suite | passed | failed | not served yet | not passed by Python | waiting for |\n|---|---|---|---|---|---|")
		for _, name := range slices.Sorted(maps.Keys(w.Suites)) {
			s, waiting := w.Suites[name], 0
			for _, n := range s.Waiting {
				waiting += n
			}
			line("| %s | %d | %d | %d | %d | %s |", name, s.Passed, s.Failed, waiting, s.Python, counted(s.Waiting))
		}
	}
	if len(w.Speed) > 0 {
		line("\n## Speed\n\n| scenario | against | there, ms of CPU | here | ratio | there, a second | here | ratio | goal |\n|---|---|---|---|---|---|---|---|---|")
		for _, s := range w.Speed {
			goal := ""
			if s.Goal > 0 {
				goal = fmt.Sprintf("%g: missed", s.Goal)
				if s.CPURatio >= s.Goal {
					goal = fmt.Sprintf("%g: met", s.Goal)
				}
			}
			line("| %s | %s | %.2f | %.3f | %.2f | %.1f | %.1f | %.2f | %s |", s.Scenario, s.Against, s.PythonCPU, s.GoCPU, s.CPURatio, s.PythonRate, s.GoRate, s.RateRatio, goal)
		}
	}
}

// counted lists names with their numbers.
func counted(m map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(out, ", ")
}
