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
	near := l.table.nearest(n)
	if !ours(n.Section) {
		l.config.Unknown = append(l.config.Unknown, Unknown{n, file, line, near})
		return
	}
	message := "no such option"
	if near != "" {
		message += "; did you mean " + near + "?"
	} else {
		message += "; there are " + strings.Join(l.table.sections[n.Section], ", ")
	}
	l.faults = append(l.faults, Fault{file, line, n.Section, n.Option, message})
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
		slices.Sort(known)
		l.faults = append(l.faults, Fault{
			File: file, Line: h.line, Section: h.section,
			Message: "no such section; did you mean [" + closest(h.section, known) + "]?",
		})
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
		message := "no such option"
		if near := l.table.nearest(n); near != "" {
			message += "; did you mean " + near + "?"
		}
		l.faults = append(l.faults, Fault{v, 0, n.Section, n.Option, message})
	}
}

// nearest names the known option most like n: in its own section by likeness
// of the name, else the same name in another section.
func (t *optionTable) nearest(n Name) string {
	if near := closest(n.Option, t.sections[n.Section]); near != "" {
		return Name{n.Section, near}.String()
	}
	best, section := len(n.Section), ""
	for s, options := range t.sections {
		if !slices.Contains(options, n.Option) {
			continue
		}
		if d := distance(n.Section, s); d < best || d == best && s < section {
			best, section = d, s
		}
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
