// Package suites runs the OpenStack clients' own test suites, and small
// programs of their libraries, against Python Keystone and keystone-go.
package suites

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// What a list says of a test.
const (
	Pass   = "pass"   // passes against Python, and must here
	Waits  = "waits"  // passes against Python, and not here until an area is served
	Python = "python" // does not pass against Python, on the same machine
)

// Entry is a line of a list: what is known of one test.
type Entry struct {
	Kind, Area, ID string // Area: what Waits waits for, or why Python fails
}

// List is what a suite is held against.
type List map[string]Entry

// Read reads a list: lines "pass ID", "waits AREA ID" and "python REASON ID".
func Read(file string) (List, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := List{}
	for i, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		var e Entry
		switch {
		case f[0] == Pass && len(f) == 2:
			e = Entry{Pass, "", f[1]}
		case (f[0] == Waits || f[0] == Python) && len(f) == 3:
			e = Entry{f[0], f[1], f[2]}
		default:
			return nil, fmt.Errorf("%s:%d: %q", file, i+1, line)
		}
		if _, twice := out[e.ID]; twice {
			return nil, fmt.Errorf("%s:%d: %s again", file, i+1, e.ID)
		}
		out[e.ID] = e
	}
	return out, nil
}

// Outcome is what became of a test.
type Outcome struct{ ID, Outcome, Detail string }

// Count sums a run up.
type Count struct {
	Passed, Failed int
	Waiting        map[string]int // by area
	Python         int            // not passed by Python either
}

// Waits is how many tests wait for something.
func (c Count) Waits() int {
	n := 0
	for _, k := range c.Waiting {
		n += k
	}
	return n
}

func (c Count) String() string {
	var areas []string
	for a, n := range c.Waiting {
		areas = append(areas, fmt.Sprintf("%s %d", a, n))
	}
	slices.Sort(areas)
	return fmt.Sprintf("%d passed, %d failed, %d not served yet (%s), %d not passed by Python", c.Passed, c.Failed, c.Waits(), strings.Join(areas, ", "), c.Python)
}

// Judge holds what became of a suite's tests against the list, and tells what
// is not as it says: a test that must pass and does not, one that waits and
// passes by now, one that is not in the list, one of the list that did not run.
func (l List) Judge(all []Outcome) (Count, []string) {
	c := Count{Waiting: map[string]int{}}
	var wrong []string
	ran := map[string]bool{}
	for _, o := range all {
		e, known := l[o.ID]
		ran[o.ID] = true
		passed := o.Outcome == "pass"
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("%s %sed, and is not in the list: %s", o.ID, o.Outcome, o.Detail))
		case e.Kind == Python:
			c.Python++
		case passed && e.Kind == Waits:
			wrong = append(wrong, fmt.Sprintf("%s waits for %s in the list, and passes by now: make it pass", o.ID, e.Area))
			c.Passed++
		case passed:
			c.Passed++
		case e.Kind == Waits:
			c.Waiting[e.Area]++
		default:
			c.Failed++
			wrong = append(wrong, fmt.Sprintf("%s: %s: %s", o.ID, o.Outcome, o.Detail))
		}
	}
	for id := range l {
		if !ran[id] {
			wrong = append(wrong, id+" is in the list, and did not run")
		}
	}
	slices.Sort(wrong)
	return c, wrong
}

// Draft writes a list from what became of the tests at both servers, for a new
// suite or a new release of one. area names what a test waits for.
func Draft(python, ours []Outcome, area func(id string) string) string {
	here := map[string]string{}
	for _, o := range ours {
		here[o.ID] = o.Outcome
	}
	var lines []string
	for _, o := range python {
		switch {
		case o.Outcome != "pass":
			lines = append(lines, fmt.Sprintf("%s %s %s", Python, o.Outcome, o.ID))
		case here[o.ID] == "pass":
			lines = append(lines, Pass+" "+o.ID)
		default:
			lines = append(lines, fmt.Sprintf("%s %s %s", Waits, area(o.ID), o.ID))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// Waiting reads the number of tests that wait in all lists.
func Waiting(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
