package conf

//go:generate go run ../../cmd/keystone-go config sample --output ../../etc/keystone.conf

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Given is one option set in a sample.
type Given struct {
	Name
	Value string // as the program should see it
}

const sampleHead = `# keystone.conf, read by keystone-go and by Python Keystone alike.
#
# A line that starts with # is a comment; an option that is commented out shows
# its default. The options here are those that this release acts on. Every other
# option of Python Keystone may stand in the file too: it is read, checked, and
# named at the start as being without effect.
#
# $name and ${section.name} stand for another option's value; a dollar, as in a
# password, is written $$. Any option can be set by the environment instead:
# OS_DATABASE__CONNECTION is [database] connection.
`

// WriteSample writes a keystone.conf with every option that has an effect, its
// meaning and default; those with a value in set, and those that the packaged
// file gives a value, stand without the comment sign.
func WriteSample(w io.Writer, set ...Given) error {
	values := map[Name]string{}
	for _, a := range set {
		values[a.Name] = a.Value
	}
	b := bufio.NewWriter(w)
	b.WriteString(sampleHead)
	section := ""
	for _, o := range slices.Concat(Options(), sampleRoutes()) {
		value, given := values[o.Name]
		if o.Effect != "yes" && !given {
			continue
		}
		if o.Section != section {
			section = o.Section
			fmt.Fprintf(b, "\n[%s]\n", section)
		}
		if o.Help != "" {
			b.WriteString("\n")
			for _, text := range []string{sentence(o.Help), notes(o)} {
				for _, line := range wrap(text, 77) {
					b.WriteString("# " + line + "\n")
				}
			}
		}
		switch {
		case given:
			b.WriteString(assignment(o.Option, quoteValue(value)))
		case o.Sample != nil:
			b.WriteString(assignment(o.Option, *o.Sample))
		default:
			b.WriteString("#" + assignment(o.Option, defaultText(o)))
		}
	}
	return b.Flush()
}

func assignment(option, value string) string {
	return strings.TrimRight(option+" = "+value, " ") + "\n"
}

// sentence begins with a capital, unless the first word is a name.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsAny(first, "_=") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s + "."
}

// Form says what values the option takes and what its default is.
func (o *Option) Form() string {
	text := strings.Trim(notes(o), "()")
	if o.Default != nil && !strings.Contains(text, "default") {
		if text != "" {
			text += "; "
		}
		text += "default " + cmp.Or(defaultText(o), "empty")
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// notes is the line about form and default, "" when there is nothing to say.
func notes(o *Option) string {
	var notes []string
	switch o.Kind {
	case Int, Float, Digits, Bool, OfLimit:
		notes = append(notes, wanted(o))
	case Multi:
		notes = append(notes, "may be repeated")
	case URI:
		notes = append(notes, "a URL")
	}
	if len(o.Choices) > 0 {
		notes = append(notes, wanted(o))
	}
	if o.Default == nil {
		notes = append(notes, "unset by default")
	} else if o.Sample != nil && *o.Default != *o.Sample {
		notes = append(notes, "default "+*o.Default)
	}
	if len(notes) == 0 {
		return ""
	}
	return "(" + strings.Join(notes, "; ") + ")"
}

func defaultText(o *Option) string {
	if o.Default == nil {
		return ""
	}
	if o.Kind == Bool {
		return strings.ToLower(*o.Default)
	}
	return quoteValue(*o.Default)
}

// quoteValue writes a value so that reading it gives it back. The dialect has
// no way to write a line end, or a backslash before a dollar.
func quoteValue(s string) string {
	s = strings.ReplaceAll(s, "$", "$$")
	if s != strings.TrimFunc(s, isSpace) || unquote(s) != s {
		return `"` + s + `"`
	}
	return s
}

// wrap breaks text at spaces into lines of at most width bytes where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// fileText writes a typed value as a file would have it.
func fileText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return strings.Join(v, ",")
	case map[string]string, map[string][]string:
		return strings.Trim(strings.ReplaceAll(pythonText(v), "'", ""), "{}")
	}
	return pythonText(v)
}
