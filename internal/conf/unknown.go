package conf

import (
	"slices"
	"strings"
)

// Unknown is an option of a file that no section has.
type Unknown struct {
	Name
	File string
	Line int
	// Near is the known option whose name is nearest, "" when none is near.
	Near string
}

// unknown collects what no option has read. In our own sections that is a
// fault: a typing error in a limit's name is a limit that is off.
func (l *loader) unknown() {
	for i, d := range l.docs {
		first := len(l.config.Unknown)
		for _, n := range d.sectionsOf() {
			if !l.isKnown(n) {
				l.addUnknown(n, d.file, d.lines[n][0])
			}
		}
		for _, e := range d.odd {
			l.addUnknown(Name{e.section, e.key}, d.file, e.line)
		}
		slices.SortStableFunc(l.config.Unknown[first:], func(a, b Unknown) int { return a.Line - b.Line })
		l.strangeSections(d.file, l.heads[i])
	}
	l.unknownEnv()
}

func (l *loader) isKnown(n Name) bool {
	return l.table.byName[n] != nil || l.table.older[n] != nil || l.isDynamic(n)
}

func (l *loader) addUnknown(n Name, file string, line int) {
	if looksOurs(n.Section) && l.table.sections[n.Section] == nil {
		return // told once, for the section
	}
	if ours(n.Section) {
		l.faults = append(l.faults, Fault{file, line, n.Section, n.Option, l.table.advice(n)})
		return
	}
	l.config.Unknown = append(l.config.Unknown, Unknown{n, file, line, l.table.nearest(n)})
}

// looksOurs takes a section for one of ours in spite of a typing error with
// separators.
func looksOurs(section string) bool {
	s := strings.NewReplacer("_", "", "-", "", " ", "").Replace(section)
	return s == "keystonego" || strings.HasPrefix(s, "ratelimit")
}

func (l *loader) strangeSections(file string, heads []header) {
	for _, h := range heads {
		if !looksOurs(h.section) || l.table.sections[h.section] != nil {
			continue
		}
		var known []string
		for s := range l.table.sections {
			if ours(s) {
				known = append(known, s)
			}
		}
		known = append(known, routePrefix+"NAME")
		slices.Sort(known)
		advice := "there are [" + strings.Join(known, "], [") + "]"
		if near := closest(h.section, known); near != "" {
			advice = "did you mean [" + near + "]?"
		}
		l.faults = append(l.faults, Fault{File: file, Line: h.line, Section: h.section, Message: "no such section; " + advice})
	}
}

// unknownEnv refuses variables of our own sections that set nothing.
func (l *loader) unknownEnv() {
	var names []string
	for v := range l.env {
		names = append(names, v)
	}
	slices.Sort(names)
	for _, v := range names {
		section, option, ok := strings.Cut(strings.TrimPrefix(v, "OS_"), "__")
		n := Name{strings.ToLower(section), strings.ToLower(option)}
		if !ok || !strings.HasPrefix(v, "OS_") || !ours(n.Section) || l.table.byName[n] != nil {
			continue
		}
		l.faults = append(l.faults, Fault{v, 0, n.Section, n.Option, l.table.advice(n)})
	}
}

// advice is what a fault says of a name that our own sections do not have.
func (t *optionTable) advice(n Name) string {
	if near := t.nearest(n); near != "" {
		return "no such option; did you mean " + near + "?"
	}
	return "no such option; there are " + strings.Join(t.sections[n.Section], ", ")
}

// nearest names the known option most like n: in its own section by likeness
// of the name; else the same name in the one section that has it, or in the
// section whose name is like this one's.
func (t *optionTable) nearest(n Name) string {
	if near := closest(n.Option, t.sections[n.Section]); near != "" {
		return Name{n.Section, near}.String()
	}
	var sections []string
	for s, options := range t.sections {
		if slices.Contains(options, n.Option) {
			sections = append(sections, s)
		}
	}
	slices.Sort(sections)
	section := closest(n.Section, sections)
	if len(sections) == 1 {
		section = sections[0]
	}
	if section == "" {
		return ""
	}
	return Name{section, n.Option}.String()
}

// closest gives the word nearest to s, "" when none is within a third of its
// length.
func closest(s string, words []string) string {
	best, found := max(2, len(s)/3)+1, ""
	for _, w := range words {
		if d := distance(s, w); d < best {
			best, found = d, w
		}
	}
	return found
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
