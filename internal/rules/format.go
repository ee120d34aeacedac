package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWidth bounds the padding that %(key)9999s may ask for, in characters.
const maxWidth = 4096

var errFormat = errors.New("the right side of a check is not a format that Python takes")

// template is the right side of a check: what Python's % makes of a text and
// the target. Of the conversions it knows s, r, a, d, i and u; the others (hex,
// floats, characters) make the decision a refusal.
type template struct {
	parts []part
}

// part is fixed text, or one conversion.
type part struct {
	text  string // fixed text
	field bool
	key   string
	whole bool // %s without a key is the whole target
	verb  byte
	flags string
	width int
	prec  int // -1: none
	bad   bool
}

// newTemplate takes the text apart once. A fault is a part too, since keys that
// are missing before it decide first.
func newTemplate(text string) template {
	var t template
	taken := false
	for text != "" {
		fixed, rest, found := strings.Cut(text, "%")
		if fixed != "" {
			t.parts = append(t.parts, part{text: fixed})
		}
		if !found {
			break
		}
		p, rest, ok := readConversion(rest)
		if p.whole && taken {
			ok = false // the one argument is used up
		}
		taken = taken || p.field
		if !ok {
			p.bad = true
			t.parts = append(t.parts, p)
			break
		}
		t.parts = append(t.parts, p)
		text = rest
	}
	return t
}

// readConversion reads what follows a %: (key), flags, width, precision, the
// length that Python ignores, and the letter.
func readConversion(s string) (p part, rest string, ok bool) {
	p = part{field: true, whole: true, prec: -1}
	if strings.HasPrefix(s, "(") {
		end := closing(s)
		if end < 0 {
			// Python never gets to ask for the key.
			return part{}, "", false
		}
		p.key, p.whole, s = s[1:end], false, s[end+1:]
	}
	p.flags, s = split(s, "-+ #0")
	width, s := split(s, "0123456789")
	prec, dot := "", false
	if s, dot = strings.CutPrefix(s, "."); dot {
		prec, s = split(s, "0123456789")
		p.prec = 0
	}
	if len(width) > 4 || len(prec) > 4 {
		return p, "", false
	}
	p.width, _ = strconv.Atoi(width) // up to four digits, or none for 0
	if prec != "" {
		p.prec, _ = strconv.Atoi(prec)
	}
	if s != "" && strings.Contains("hlL", s[:1]) {
		s = s[1:]
	}
	if s == "" || p.width > maxWidth || p.prec > maxWidth || !strings.Contains("sradiu%", s[:1]) {
		return p, "", false
	}
	p.verb = s[0]
	switch {
	case p.verb != '%':
		return p, s[1:], true
	case p.whole:
		return part{text: "%"}, s[1:], true
	}
	return p, "", false // %(key)% is none
}

// split cuts the leading bytes off that are among the given ones.
func split(s, among string) (head, tail string) {
	tail = strings.TrimLeft(s, among)
	return s[:len(s)-len(tail)], tail
}

// closing finds the parenthesis that closes the first one.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// constant gives the text when it has no conversions.
func (t template) constant() (string, bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && !t.parts[0].field && !t.parts[0].bad:
		return t.parts[0].text, true
	}
	return "", false
}

// fill puts the target's values in. The verdict is no when a key is missing.
func (t template) fill(r *run) (string, verdict) {
	if len(t.parts) == 1 {
		return t.parts[0].fill(r)
	}
	var b strings.Builder
	for i := range t.parts {
		text, v := t.parts[i].fill(r)
		if v != yes {
			return "", v
		}
		b.WriteString(text)
	}
	return b.String(), yes
}

func (p *part) fill(r *run) (string, verdict) {
	var value any = r.target
	if p.field && !p.whole {
		v, ok := r.target[p.key]
		if !ok {
			return "", no
		}
		value = v
	}
	switch {
	case p.bad:
		return "", r.fail(errFormat)
	case !p.field:
		return p.text, yes
	}
	if p.verb == 's' && p.width == 0 && p.prec < 0 {
		return Str(value), yes
	}
	text, ok := p.convert(value)
	if !ok {
		return "", r.fail(errFormat)
	}
	return text, yes
}

func (p *part) convert(value any) (string, bool) {
	text, sign := "", ""
	switch p.verb {
	case 's':
		text = Str(value)
	case 'r':
		text = repr(value)
	case 'a':
		text = ascii(repr(value))
	default:
		digits, ok := integer(value)
		if !ok {
			return "", false
		}
		text, sign = strings.TrimPrefix(digits, "-"), p.sign(digits)
		if n := p.prec - len(text); n > 0 {
			text = strings.Repeat("0", n) + text
		}
		return p.pad(sign, text, strings.Contains(p.flags, "0")), true
	}
	if p.prec >= 0 && utf8.RuneCountInString(text) > p.prec {
		text = string([]rune(text)[:p.prec])
	}
	return p.pad("", text, false), true
}

func (p *part) sign(digits string) string {
	switch {
	case strings.HasPrefix(digits, "-"):
		return "-"
	case strings.Contains(p.flags, "+"):
		return "+"
	case strings.Contains(p.flags, " "):
		return " "
	}
	return ""
}

func (p *part) pad(sign, text string, zeros bool) string {
	n := p.width - utf8.RuneCountInString(sign+text)
	switch {
	case n <= 0:
		return sign + text
	case strings.Contains(p.flags, "-"):
		return sign + text + strings.Repeat(" ", n)
	case zeros:
		return sign + strings.Repeat("0", n) + text
	}
	return strings.Repeat(" ", n) + sign + text
}

// integer gives the digits of a number, cut towards zero.
func integer(value any) (string, bool) {
	switch v := value.(type) {
	case bool:
		if v {
			return "1", true
		}
		return "0", true
	case json.Number:
		f, _, err := big.ParseFloat(v.String(), 10, 512, big.ToZero)
		if err != nil || f.MantExp(nil) > 1024 {
			return "", false
		}
		return f.Text('f', 0), true
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt(), v.CanUint():
		return repr(value), true
	case v.CanFloat():
		f := new(big.Float)
		if x := v.Float(); x-x != 0 {
			return "", false
		}
		i, _ := f.SetFloat64(v.Float()).Int(nil)
		return i.String(), true
	}
	return "", false
}

// ascii escapes what a repr left beyond ASCII.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
