package conf

import (
	"fmt"
	"math"
	"strings"
)

// result is what an option came to.
type result struct {
	value     any   // typed; nil: unset
	from      *raw  // nil: the default
	was       *Name // the older name it was read under
	isDefault bool
	failed    bool // a fault was told; value is the default
	noSuch    bool // and it is a reference to what there is not
}

// value reads an option once and keeps it.
func (l *loader) value(o *Option) result {
	if r, ok := l.known[o.Name]; ok {
		return r
	}
	l.active[o.Name] = true
	r := l.compute(o)
	delete(l.active, o.Name)
	l.known[o.Name] = r
	return r
}

func (l *loader) compute(o *Option) result {
	fallback := l.defaultOf(o)
	raws, was := l.raws(o)
	if len(raws) == 0 {
		fallback.isDefault = true
		return fallback
	}
	last := &raws[len(raws)-1]
	r := result{from: last, was: was}
	v, err := l.typed(o, raws)
	if err != nil {
		l.blame(o.Name, last, err.Error())
		fallback.from, fallback.failed, fallback.noSuch = last, true, isNoSuch(err)
		return fallback
	}
	r.value = v
	r.isDefault = fmt.Sprint(v) == fmt.Sprint(fallback.value)
	return r
}

func (l *loader) defaultOf(o *Option) result {
	if o.Default == nil {
		return result{}
	}
	v, err := parse(o, *o.Default)
	if err != nil {
		panic(fmt.Sprintf("conf: default of %s: %v", o.Name, err))
	}
	return result{value: v}
}

// typed expands and parses the text or, of an option that may be repeated,
// the texts.
func (l *loader) typed(o *Option, raws []raw) (any, error) {
	if o.Kind == Multi {
		list := make([]string, len(raws))
		for i, r := range raws {
			text, err := l.expand(r.text, o.Section)
			if err != nil {
				return nil, err
			}
			list[i] = text
		}
		return list, nil
	}
	text, err := l.expand(raws[len(raws)-1].text, o.Section)
	if err != nil {
		return nil, err
	}
	v, err := parse(o, text)
	if err != nil || v == nil {
		return nil, err
	}
	if o.When != "" {
		return v, nil // its bounds matter only while the sibling is on: see check
	}
	return v, inBounds(o, v)
}

// raws finds the texts of an option: the command line, the environment, else the newest file
// that has it under its own name or an older one; of an option that may be
// repeated, those of all files, the oldest first.
func (l *loader) raws(o *Option) ([]raw, *Name) {
	if text, ok := l.given[o.Name]; ok {
		return []raw{{text: text, file: CommandLine}}, nil
	}
	if text, ok := l.env[EnvName(o.Name)]; ok {
		return []raw{{text: text, file: EnvName(o.Name)}}, nil
	}
	return l.filed(o)
}

// filed finds the texts of an option in the files.
func (l *loader) filed(o *Option) ([]raw, *Name) {
	var all []raw
	var was *Name
	for i := len(l.docs) - 1; i >= 0; i-- {
		for n := range len(o.Was) + 1 {
			name := o.Name
			if n > 0 {
				name = o.Was[n-1]
			}
			found := l.docs[i].values(name)
			if len(found) == 0 {
				continue
			}
			if n > 0 && was == nil {
				was = &name
			}
			if o.Kind != Multi {
				return found, was
			}
			all = append(found, all...)
		}
	}
	return all, was
}

// EnvName is the environment variable that sets an option.
func EnvName(n Name) string {
	return "OS_" + strings.ToUpper(n.Section) + "__" + strings.ToUpper(n.Option)
}

func (l *loader) blame(n Name, at *raw, message string) {
	l.blamed[n] = true
	f := Fault{Section: n.Section, Option: n.Option, Message: message}
	if at != nil {
		f.File, f.Line = at.file, at.line
	}
	l.faults = append(l.faults, f)
}

func inBounds(o *Option, v any) error {
	var f float64
	switch n := v.(type) {
	case int:
		f = float64(n)
	case float64:
		f = n
	default:
		return nil
	}
	if o.Min != nil && f < *o.Min || o.Max != nil && f > *o.Max {
		return fmt.Errorf("%v is out of range; give %s", v, wanted(o))
	}
	return nil
}

// wanted names what an option takes.
func wanted(o *Option) string {
	switch o.Kind {
	case Int, Digits, Float:
		kind := "a whole number"
		if o.Kind == Float {
			kind = "a number"
		}
		switch {
		case o.Min != nil && o.Max != nil && *o.Max < math.MaxInt64:
			return fmt.Sprintf("%s from %d to %d", kind, int64(*o.Min), int64(*o.Max))
		case o.Min != nil:
			return fmt.Sprintf("%s of at least %d", kind, int64(*o.Min))
		case o.Max != nil:
			return fmt.Sprintf("%s of at most %d", kind, int64(*o.Max))
		}
		return kind
	case Bool:
		return "true or false"
	case OfLimit:
		return "requests/period such as 120/1m or 120/1m burst 240"
	}
	if len(o.Choices) > 0 {
		return "one of " + strings.Join(nonEmpty(o.Choices), ", ")
	}
	return "a value"
}

func nonEmpty(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s == "" {
			s = "(nothing)"
		}
		out = append(out, s)
	}
	return out
}
