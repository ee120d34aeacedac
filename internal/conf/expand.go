package conf

import (
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
		if err != nil && failed == nil {
			failed = err
		}
		return s
	})
	return out, failed
}

func (l *loader) lookup(name, section string) (string, error) {
	o := l.table.byName[Name{section, name}]
	if s, n, dotted := strings.Cut(name, "."); dotted {
		o = l.table.byName[Name{s, n}]
	}
	if older := l.table.older[Name{section, name}]; o == nil && len(older) > 0 {
		o = older[0]
	}
	if o == nil {
		o = l.table.byName[Name{"DEFAULT", name}]
	}
	switch {
	case o == nil:
		return "", fmt.Errorf("$%s names no option; write $$ where a dollar is meant", name)
	case l.active[o.Name]:
		return "", fmt.Errorf("$%s leads back to itself", name)
	}
	r := l.value(o)
	if r.failed {
		return "", fmt.Errorf("$%s is not valid itself", name)
	}
	return pythonText(r.value), nil
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
		pairs := make([]string, 0, len(v))
		for k, s := range v {
			pairs = append(pairs, pythonQuote(k)+": "+pythonQuote(s))
		}
		slices.Sort(pairs)
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func pythonFloatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "inf", 1)
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
