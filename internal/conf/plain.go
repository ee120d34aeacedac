package conf

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"gopkg.in/ini.v1"
)

// document is one file: its values as ini.v1 holds them and where each stands.
type document struct {
	file  string
	ini   *ini.File
	lines map[Name][]int
	odd   []entry // names that no option can have and ini.v1 would read otherwise
}

// raw is the text of one value and where it came from.
type raw struct {
	text string
	file string
	line int
}

// plainForm makes ini.v1 take each line as it stands: the dialect is decided
// before it sees anything.
var plainForm = ini.LoadOptions{
	IgnoreInlineComment:        true,
	IgnoreContinuation:         true,
	PreserveSurroundedQuote:    true,
	AllowShadows:               true,
	AllowDuplicateShadowValues: true,
	KeyValueDelimiters:         "=",
	ChildSectionDelimiter:      "\x00",
}

func readDocument(file string) (*document, []header, Faults) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, Faults{{File: file, Message: "cannot read the file: " + reason(err)}}
	}
	r := readLines(file, string(text))
	d, err := newDocument(file, r.entries)
	if err != nil {
		return nil, nil, append(r.faults, Fault{File: file, Message: err.Error()})
	}
	return d, r.headers, r.faults
}

// newDocument writes the entries anew, one key = "quoted" line each, and has
// ini.v1 load that.
func newDocument(file string, entries []entry) (*document, error) {
	d := &document{file: file, lines: map[Name][]int{}}
	var b strings.Builder
	section := ""
	for _, e := range entries {
		if !plainName(e.key) || !plainSection(e.section) {
			d.odd = append(d.odd, e)
			continue
		}
		if e.section != section {
			section = e.section
			b.WriteString("[" + section + "]\n")
		}
		b.WriteString(e.key + " = " + strconv.QuoteToASCII(e.value) + "\n")
		n := Name{e.section, e.key}
		d.lines[n] = append(d.lines[n], e.line)
	}
	f, err := ini.LoadSources(plainForm, []byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("load the normalised file: %w", err)
	}
	d.ini = f
	return d, nil
}

// values gives all values of a name in file order.
func (d *document) values(n Name) []raw {
	lines := d.lines[n]
	if len(lines) == 0 {
		return nil
	}
	texts := d.ini.Section(n.Section).Key(n.Option).ValueWithShadows()
	out := make([]raw, len(texts))
	for i, t := range texts {
		t, err := strconv.Unquote(t)
		if err != nil {
			panic("conf: the plain form did not survive: " + err.Error())
		}
		out[i] = raw{t, d.file, lines[i]}
	}
	return out
}

// plainSection takes the section of a route for its colon too.
func plainSection(s string) bool {
	name, _ := strings.CutPrefix(s, routePrefix)
	return plainName(name)
}

func plainName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != "" && s != "-"
}
