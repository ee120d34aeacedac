package diff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Listed is a difference that is meant to be.
type Listed struct {
	// In names the run that meets it: recorded, scenarios or matrix.
	In string `yaml:"in"`
	// Step matches the whole name of the step, "scenario/step".
	Step string `yaml:"step"`
	// Line matches the line of the difference, from its begin.
	Line string `yaml:"line"`
	// Reason is the entry of docs/divergences.md, D-nn.
	Reason string `yaml:"reason"`
	// Why says it in one line.
	Why string `yaml:"why"`

	step, line *regexp.Regexp
	used       int
}

// Lists are the listed differences of one run.
type Lists []*Listed

// half are lines that end with what Python does.
var half = []string{"broken: ", "status: 200", "status: 204", "status: 400 (x)", "status: 404 (x)", "status: 500", `header Content-Type: "text/html`, "body: "}

// word is what may be the name of a table in a pattern.
var word = regexp.MustCompile(`[a-z_]{4,}`)

// narrow refuses a pattern that would take whatever is answered here, or
// whatever is in a table, for what is meant.
func (l *Listed) narrow() error {
	for _, python := range half {
		if l.line.MatchString(python) {
			return errors.New("does not say what is answered here")
		}
	}
	for _, table := range word.FindAllString(l.Line, -1) {
		if l.line.MatchString(table+": 1 × {}, missing here") || l.line.MatchString(table+": missing, here 1 × {}") {
			return errors.New("would take any row")
		}
	}
	return nil
}

// LoadLists reads the lists of a folder, and refuses an entry whose reason is
// not in the document of divergences.
func LoadLists(dir, document string) (Lists, error) {
	page, err := os.ReadFile(document)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all Lists
	for _, f := range files {
		one, err := loadList(f, document, string(page))
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

func loadList(file, document, page string) (Lists, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all Lists
	if err := yaml.Load(text, &all, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, l := range all {
		if l.In == "" || l.Step == "" || l.Line == "" || l.Why == "" {
			return nil, fmt.Errorf("%s: entry %d lacks in, step, line or why", file, i+1)
		}
		if !strings.Contains(page, "\n## "+l.Reason+" ") {
			return nil, fmt.Errorf("%s: entry %d: %s has no %q", file, i+1, document, l.Reason)
		}
		if l.step, err = regexp.Compile("^(?:" + l.Step + ")$"); err != nil {
			return nil, fmt.Errorf("%s: entry %d: %w", file, i+1, err)
		}
		if l.line, err = regexp.Compile("^(?:" + l.Line + ")"); err != nil {
			return nil, fmt.Errorf("%s: entry %d: %w", file, i+1, err)
		}
		if err := l.narrow(); err != nil {
			return nil, fmt.Errorf("%s: entry %d: line %s %w", file, i+1, l.Line, err)
		}
	}
	return all, nil
}

// For gives the entries of one run.
func (all Lists) For(run string) Lists {
	var out Lists
	for _, l := range all {
		if l.In == run {
			out = append(out, l)
		}
	}
	return out
}

// split parts the lines of a step into those that are listed and those that
// are not.
func (all Lists) split(step string, lines []string) (listed, open []string) {
	for _, line := range lines {
		known := false
		for _, l := range all {
			if l.step.MatchString(step) && l.line.MatchString(line) {
				l.used++
				known = true
				listed = append(listed, l.Reason)
				break
			}
		}
		if !known {
			open = append(open, line)
		}
	}
	return listed, open
}

// Unused are the entries that no difference needed: what they list has gone,
// and so must they.
func (all Lists) Unused() []string {
	var out []string
	for _, l := range all {
		if l.used == 0 {
			out = append(out, fmt.Sprintf("step %s, line %s (%s)", l.Step, l.Line, l.Reason))
		}
	}
	return out
}
