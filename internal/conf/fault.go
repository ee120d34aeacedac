package conf

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with the configuration and what would be right.
type Fault struct {
	File    string // or the name of an environment variable
	Line    int    // 0 where there is none
	Section string
	Option  string
	Message string
}

// Error reads "file:line: [section] option: message".
func (f Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Section != "" {
		b.WriteString("[" + f.Section + "]")
		if f.Option != "" {
			b.WriteString(" " + f.Option)
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Faults is everything wrong with the configuration, in reading order.
type Faults []Fault

// Error gives one line a fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}
