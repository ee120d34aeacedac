package olog

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// pyini is a file as Python's configparser reads it for logging: sections of
// keys, DEFAULT beneath them all.
type pyini map[string]map[string]string

func readPyini(path string) (pyini, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ini, section, key := pyini{}, "", ""
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		raw := lines.Text()
		line := strings.TrimSpace(raw)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case raw[0] == ' ' || raw[0] == '\t':
			if key == "" {
				return nil, fmt.Errorf("%s:%d: an indented line that continues nothing", path, n)
			}
			ini[section][key] += "\n" + line
		case line[0] == '[' && line[len(line)-1] == ']':
			section, key = line[1:len(line)-1], ""
			if ini[section] == nil {
				ini[section] = map[string]string{}
			}
		default:
			name, value, found := cutAny(line, "=:")
			if !found || section == "" {
				return nil, fmt.Errorf("%s:%d: neither a section nor key = value", path, n)
			}
			key = strings.ToLower(name)
			ini[section][key] = value
		}
	}
	return ini, lines.Err()
}

func cutAny(s, chars string) (before, after string, found bool) {
	i := strings.IndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:]), true
}

func (ini pyini) get(section, key string) string {
	if v, ok := ini[section][key]; ok {
		return v
	}
	return ini["DEFAULT"][key]
}

func (ini pyini) list(section, key string) []string {
	var out []string
	for item := range strings.SplitSeq(ini.get(section, key), ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// name is a Python name in an expression, such as sys.stdout.
type name string

// pyTuple reads what stands in args: a tuple of literals, names and tuples.
func pyTuple(s string) ([]any, error) {
	p := &pyParser{s: s}
	v, err := p.value()
	if err == nil && strings.TrimSpace(p.s) != "" {
		err = fmt.Errorf("not understood: %q", p.s)
	}
	if err != nil {
		return nil, err
	}
	if list, ok := v.([]any); ok {
		return list, nil
	}
	return []any{v}, nil
}

type pyParser struct{ s string }

func (p *pyParser) next() byte {
	p.s = strings.TrimLeft(p.s, " \t\n")
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

func (p *pyParser) value() (any, error) {
	switch c := p.next(); {
	case c == '(' || c == '[':
		return p.tuple()
	case c == '\'' || c == '"':
		end := strings.IndexByte(p.s[1:], c)
		if end < 0 {
			return nil, fmt.Errorf("a text without its end: %s", p.s)
		}
		text := p.s[1 : 1+end]
		p.s = p.s[2+end:]
		return text, nil
	case c == '-' || c >= '0' && c <= '9':
		end := 1 + len(p.s[1:]) - len(strings.TrimLeft(p.s[1:], "0123456789"))
		n, err := strconv.Atoi(p.s[:end])
		p.s = p.s[end:]
		return n, err
	}
	end := strings.IndexFunc(p.s, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 {
		end = len(p.s)
	}
	if end == 0 {
		return nil, fmt.Errorf("not understood: %q", p.s)
	}
	word := name(p.s[:end])
	p.s = p.s[end:]
	return word, nil
}

func (p *pyParser) tuple() (any, error) {
	list := []any{}
	p.s = p.s[1:]
	for {
		switch p.next() {
		case ')', ']':
			p.s = p.s[1:]
			return list, nil
		case ',':
			p.s = p.s[1:]
			continue
		case 0:
			return nil, fmt.Errorf("a bracket is not closed")
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}
