package conf

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

func (l *loader) lookup(name, section string) (string, error) {
	o := l.referred(name, section)
	switch {
	case o == nil:
		return "", fmt.Errorf("$%s names no option; write $$ where a dollar is meant", name)
	case o.Dashed && name != o.Option:
		// oslo.config looks for it under the name with dashes, does not find
		// it, and leaves the text.
		return "", errLeft
	case l.active[o.Name]:
		return "", fmt.Errorf("$%s leads back to itself", name)
	}
	r := l.value(o)
	if r.failed {
		return "", fmt.Errorf("$%s is not valid itself", name)
	}
	return pythonText(r.value), nil
}

// referred is the option that a reference means, nil if there is none.
func (l *loader) referred(name, section string) *Option {
	if s, n, dotted := strings.Cut(name, "."); dotted {
		if s == "DEFAULT" {
			return nil // which is no group of oslo.config's
		}
		return l.named(Name{s, n})
	}
	if o := l.named(Name{section, name}); o != nil {
		return o
	}
	return l.named(Name{"DEFAULT", name})
}

// named finds an option by its name or an older one. By an older one oslo.config
// reads it as if it stood in the section of that.
func (l *loader) named(n Name) *Option {
	if o := l.table.byName[n]; o != nil {
		return o
	}
	older := l.table.older[n]
	if len(older) == 0 {
		return nil
	}
	o := *older[len(older)-1]
	o.Section = n.Section
	return &o
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

func pythonQuote(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	r := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, quote, `\`+quote)
	return quote + r.Replace(s) + quote
}
