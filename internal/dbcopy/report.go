package dbcopy

import (
	"fmt"
	"strings"
)

// Count is a table with its rows and their checksum.
type Count struct {
	Table string
	Sum   Sum
}

// Finding is something that an operator should know before the copy.
type Finding struct {
	Refused bool // nothing is copied as long as it is so
	Title   string
	Text    string
	Items   []string // which rows, the first of them
	Rows    int64    // how many rows
}

// Report is what was found in the source.
type Report struct {
	Tables   []Count
	Findings []Finding
}

// Refused tells whether the source cannot be carried as it is.
func (r *Report) Refused() bool {
	for _, f := range r.Findings {
		if f.Refused {
			return true
		}
	}
	return false
}

// maxItems is how many rows a finding names.
const maxItems = 20

// findings are collected by title, in the order in which they came.
type findings struct {
	list []*Finding
	by   map[string]*Finding
}

// note counts a row for a finding.
func (f *findings) note(most int, found Finding, item string) {
	at, ok := f.by[found.Title]
	if !ok {
		if f.by == nil {
			f.by = map[string]*Finding{}
		}
		at = &found
		f.by[found.Title] = at
		f.list = append(f.list, at)
	}
	at.Rows++
	if len(at.Items) < most && item != "" {
		at.Items = append(at.Items, item)
	}
}

// unnamed are tables whose keys are secrets.
var unnamed = map[string]bool{"token": true}

// naming says which row it is, by its key.
func (t table) naming(r row) string {
	if unnamed[t.name] {
		return ""
	}
	var parts []string
	for _, i := range t.at(t.key) {
		parts = append(parts, fmt.Sprintf("%s %.80q", t.columns[i].name, written(r[i])))
	}
	return strings.Join(parts, ", ")
}
