package conf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// entry is one assignment of a file, its value with quotes and indentation
// taken off as oslo.config does (oslo_config/iniparser.py).
type entry struct {
	section string
	key     string
	value   string
	line    int
}

// header is one section header.
type header struct {
	section string
	line    int
}

// lineReader splits a file into assignments and keeps their positions. Unlike
// oslo.config it goes on after a fault, to name them all.
type lineReader struct {
	file      string
	asWritten bool // sections keep their letters
	headers   []header
	entries   []entry
	faults    []Fault

	section string
	inside  bool // a section header has been seen
	open    bool // the last entry may be continued
	skipped bool // the last assignment was a fault: so are not its continuations
}

// readLines reads the text of a file.
func readLines(file, text string) *lineReader {
	r := &lineReader{file: file}
	r.read(text)
	return r
}

func (r *lineReader) read(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		r.line(n, strings.TrimRightFunc(line, isSpace))
	}
}

func (r *lineReader) line(n int, line string) {
	switch {
	case line == "":
		r.open, r.skipped = false, false
		return
	case line[0] == ' ' || line[0] == '\t':
		r.continued(n, line)
		return
	}
	r.open, r.skipped = false, false
	switch {
	case !utf8.ValidString(line):
		r.fault(n, "the line is not UTF-8 text")
		r.skipped = true
	case line[0] == '[':
		r.header(n, line)
	case line[0] == '#' || line[0] == ';':
	default:
		r.assignment(n, line)
	}
}

func (r *lineReader) continued(n int, line string) {
	switch {
	case r.skipped:
	case !r.open:
		r.fault(n, "the line is indented but continues nothing; start it in the first column")
	case !utf8.ValidString(line):
		r.fault(n, "the line is not UTF-8 text")
	default:
		e := &r.entries[len(r.entries)-1]
		e.value += "\n" + strings.TrimLeftFunc(line, isSpace)
	}
}

func (r *lineReader) header(n int, line string) {
	switch {
	case !strings.HasSuffix(line, "]"):
		r.fault(n, "a section header must end with ], with nothing after it")
	case len(line) <= 2:
		r.fault(n, "the section has no name")
	default:
		r.section, r.inside = line[1:len(line)-1], true
		if !r.asWritten {
			r.section = normalSection(r.section)
		}
		r.headers = append(r.headers, header{r.section, n})
	}
}

func (r *lineReader) assignment(n int, line string) {
	i := strings.IndexAny(line, "=:")
	if i < 0 {
		r.skipped = true
		r.fault(n, "expected a [section], a comment, or: option = value")
		return
	}
	key := strings.TrimFunc(line[:i], isSpace)
	switch {
	case key == "":
		r.skipped = true
		r.fault(n, "there is no option name before the "+line[i:i+1])
		return
	case !r.inside:
		r.skipped = true
		r.fault(n, "the option stands before any section; put [DEFAULT] above it")
		return
	}
	r.open = true
	r.entries = append(r.entries, entry{r.section, key, unquote(strings.TrimFunc(line[i+1:], isSpace)), n})
}

func (r *lineReader) fault(n int, message string) {
	r.faults = append(r.faults, Fault{File: r.file, Line: n, Message: message})
}

// unquote cuts one pair of equal quotes off; nothing is escaped inside.
func unquote(s string) string {
	if s == "" || s[0] != s[len(s)-1] || s[0] != '"' && s[0] != '\'' {
		return s
	}
	if len(s) == 1 {
		return ""
	}
	return s[1 : len(s)-1]
}

// isSpace is what Python's str.strip removes.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}
