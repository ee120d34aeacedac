package conf

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// reference is $$, $name or ${name}; a dot belongs to the name.
var reference = regexp.MustCompile(`\$(?:(\$)|((?i:[_a-z][._a-z0-9]*))|\{((?i:[_a-z][._a-z0-9]*))\})`)

// expand replaces references to other options, as oslo.config does when an
// option is read: $name is looked up in the option's own section, then in
// DEFAULT; ${section.name} anywhere; $$ is a dollar.
func (l *loader) expand(text, section string) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	text = strings.ReplaceAll(text, `\$`, "$$")
	var failed error
	out := reference.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.Trim(m, "${}")
		if name == "" {
			return "$"
		}
		s, err := l.lookup(name, section)
		if errors.Is(err, errLeft) {
			return m
		}
		if err != nil && failed == nil {
			failed = err
		}
		return s
	})
	return out, failed
}

// errLeft: the reference stays as it is written.
var errLeft = errors.New("left as it is")

// noSuchError is a reference to what there is not.
type noSuchError struct{ name string }

func (e noSuchError) Error() string {
	return "$" + e.name + " names no option; write $$ where a dollar is meant"
}

func (l *loader) lookup(name, section string) (string, error) {
	for _, n := range candidates(name, section) {
		o, older := l.named(n)
		switch {
		case o == nil:
			continue
		case o.Dashed && older:
			// oslo.config looks for it under the name with dashes, does not
			// find it, and leaves the text.
			return "", errLeft
		case l.active[o.Name]:
			return "", fmt.Errorf("$%s leads back to itself", name)
		}
		r := l.referred(o, older)
		switch {
		case r.noSuch: // oslo.config takes the fault for its own and looks on
		case r.failed:
			return "", fmt.Errorf("$%s is not valid itself", name)
		default:
			return pythonText(r.value), nil
		}
	}
	s, _, dotted := strings.Cut(name, ".")
	if isSection := l.table.sections[s] != nil; s == "DEFAULT" || dotted != isSection {
		return "", errors.New(noSuchError{name}.Error()) // for which oslo.config has other errors
	}
	return "", noSuchError{name}
}

// candidates are the options that a reference may mean, the first one first.
func candidates(name, section string) []Name {
	s, n, dotted := strings.Cut(name, ".")
	switch {
	case !dotted:
		return []Name{{section, name}, {"DEFAULT", name}}
	case s == "DEFAULT":
		return nil // which is no group of oslo.config's
	}
	return []Name{{s, n}}
}

// named finds an option by its name or an older one. By an older one oslo.config
// reads it as if it stood in the section of that.
func (l *loader) named(n Name) (o *Option, older bool) {
	if o := l.table.byName[n]; o != nil {
		return o, false
	}
	list := l.table.older[n]
	if len(list) == 0 {
		return nil, false
	}
	same := *list[len(list)-1]
	same.Section = n.Section
	return &same, true
}

// referred reads the option that a reference means. One that is found by an
// older name is not read from the environment.
func (l *loader) referred(o *Option, older bool) result {
	if !older {
		return l.value(o)
	}
	l.active[o.Name] = true
	defer delete(l.active, o.Name)
	raws, _ := l.filed(o)
	if len(raws) == 0 {
		return l.defaultOf(o)
	}
	v, err := l.typed(o, raws)
	return result{value: v, failed: err != nil, noSuch: isNoSuch(err)}
}

func isNoSuch(err error) bool {
	_, ok := errors.AsType[noSuchError](err)
	return ok
}

// pythonText is Python's str() of a typed value.
func pythonText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return pythonFloatText(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = pythonQuote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		return pythonDict(v, pythonQuote)
	case map[string][]string:
		return pythonDict(v, func(list []string) string { return pythonText(list) })
	}
	return fmt.Sprint(v)
}

func pythonDict[T any](v map[string]T, text func(T) string) string {
	pairs := make([]string, 0, len(v))
	for k, item := range v {
		pairs = append(pairs, pythonQuote(k)+": "+text(item))
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ", ") + "}"
}

func pythonFloatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return map[bool]string{true: "inf", false: "-inf"}[f > 0]
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if a := math.Abs(f); f == 0 || a >= 1e-4 && a < 1e16 {
		s = strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
	}
	return strings.TrimPrefix(s, "+")
}

// pythonQuote is Python's repr of a text.
func pythonQuote(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote, c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteRune(quote)
	return b.String()
}
