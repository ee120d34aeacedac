package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxOutput bounds the lines that are shown of one failed test.
const maxOutput = 200

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// figureLine is what a test says by t.Logf("figure: …") or prints so: it is
// shown though the test passes.
var figureLine = regexp.MustCompile(`^(?:\s+\S+\.go:\d+: )?figure: (.+)\n$`)

// report counts tests and shows failures as they come.
type report struct {
	out                                        io.Writer
	passed, failed, skipped, postgres, mariadb int

	skips     []string
	oneEngine map[string][]string // tests without Postgres, and without MariaDB
	fuzzed    string              // the last that a fuzz target said of its progress

	packages map[string]*packageRun
	builds   map[string][]string
}

// packageRun is what one package has said so far; output and results by test,
// the package itself under "".
type packageRun struct {
	output  map[string][]string
	results map[string]string
	figures []string
}

func newReport(out io.Writer) *report {
	return &report{out: out, oneEngine: map[string][]string{}, packages: map[string]*packageRun{}, builds: map[string][]string{}}
}

// read takes the whole output of one go test -json.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(r.out, "%s", line)
			} else {
				r.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e event) {
	if e.Action == "build-output" {
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &packageRun{output: map[string][]string{}, results: map[string]string{}}
		r.packages[e.Package] = p
	}
	switch e.Action {
	case "output":
		if strings.HasPrefix(e.Output, "fuzz: elapsed") {
			r.fuzzed = strings.TrimSpace(e.Output)
		}
		if m := figureLine.FindStringSubmatch(e.Output); m != nil {
			p.figures = append(p.figures, m[1])
		}
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			p.results[e.Test] = e.Action
			return
		}
		r.finish(e, p)
		delete(r.packages, e.Package)
	}
}

// finish counts a package that has ended. A test with subtests is counted by
// them, unless it failed on its own.
func (r *report) finish(e event, p *packageRun) {
	parents, broken := p.parents()
	before := r.failed
	ran := 0
	for _, test := range slices.Sorted(maps.Keys(p.results)) {
		result := p.results[test]
		if parents[test] && (result != "fail" || broken[test]) {
			continue
		}
		ran++
		if result != "skip" && onEngine(test, "postgres") {
			r.postgres++
		}
		if result != "skip" && onEngine(test, "mariadb") {
			r.mariadb++
		}
		switch result {
		case "pass":
			r.passed++
		case "fail":
			r.failed++
			r.show(e.Package+" "+test, p.output[test])
		case "skip":
			r.skipped++
			r.skips = append(r.skips, e.Package+" "+test+": "+reason(p.output[test]))
		}
	}
	for _, engine := range []string{"postgres", "mariadb"} {
		r.oneEngine[engine] = append(r.oneEngine[engine], missingEngine(e.Package, engine, p.results)...)
	}
	if e.Action == "fail" && r.failed == before {
		r.failed++
		r.show(e.Package, append(r.builds[e.FailedBuild], p.output[""]...))
	}
	word := map[string]string{"pass": "ok", "fail": "FAIL"}[e.Action]
	if word != "" && (ran > 0 || e.Action == "fail") {
		fmt.Fprintf(r.out, "%-4s %-60s %5d tests %7.1fs\n", word, e.Package, ran, e.Elapsed)
	}
	for _, f := range p.figures {
		fmt.Fprintf(r.out, "     %s\n", f)
	}
}

// parents tells which tests have subtests, and which have failed ones.
func (p *packageRun) parents() (all, broken map[string]bool) {
	all, broken = map[string]bool{}, map[string]bool{}
	for test, result := range p.results {
		for i, c := range test {
			if c == '/' {
				all[test[:i]] = true
				broken[test[:i]] = broken[test[:i]] || result == "fail"
			}
		}
	}
	return all, broken
}

func (r *report) show(what string, output []string) {
	fmt.Fprintf(r.out, "--- FAIL: %s\n", what)
	for i, line := range output {
		if i == maxOutput {
			fmt.Fprintf(r.out, "    … and %d lines more\n", len(output)-i)
			break
		}
		fmt.Fprintf(r.out, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// faults names what makes the whole run a failure.
func (r *report) faults(postgres, mariadb, strict bool) []string {
	var faults []string
	for _, s := range r.skips {
		fmt.Fprintf(r.out, "skipped: %s\n", s)
	}
	if r.failed > 0 {
		faults = append(faults, fmt.Sprintf("FAIL: %d tests failed", r.failed))
	}
	if r.passed+r.failed == 0 {
		faults = append(faults, "FAIL: no test ran")
	}
	if strict && r.skipped > 0 {
		faults = append(faults, fmt.Sprintf("FAIL: %d tests were skipped", r.skipped))
	}
	if postgres {
		faults = append(faults, r.engineFaults("postgres", "Postgres", r.postgres)...)
	}
	if mariadb {
		faults = append(faults, r.engineFaults("mariadb", "MariaDB", r.mariadb)...)
	}
	return faults
}

func (r *report) engineFaults(engine, name string, ran int) []string {
	var faults []string
	if ran == 0 {
		faults = append(faults, "FAIL: no test ran on "+name)
	}
	for _, test := range r.oneEngine[engine] {
		faults = append(faults, "FAIL: ran on SQLite but not on "+name+": "+test)
	}
	return faults
}

// missingEngine lists the tests that have a subtest "sqlite" and none for
// another engine, "postgres" or, for a way of talking to it, "postgres exec".
func missingEngine(pkg, engine string, results map[string]string) []string {
	both := map[string]bool{}
	for test, result := range results {
		if i := strings.LastIndexByte(test, '/'); i >= 0 && result != "skip" && isEngine(test[i+1:], engine) {
			both[test[:i]] = true
		}
	}
	var missing []string
	for test := range results {
		if parent, ok := strings.CutSuffix(test, "/sqlite"); ok && !both[parent] {
			missing = append(missing, pkg+" "+parent)
		}
	}
	slices.Sort(missing)
	return missing
}

func onEngine(test, engine string) bool {
	return slices.ContainsFunc(strings.Split(test, "/"), func(name string) bool { return isEngine(name, engine) })
}

func isEngine(name, engine string) bool {
	return name == engine || strings.HasPrefix(name, engine+"_")
}

// reason is the line in which a skipped test said why.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}
