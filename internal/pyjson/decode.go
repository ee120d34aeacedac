package pyjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested in what Decode reads.
// Python gives up near 1000; nothing that Keystone knows goes beyond 10.
const MaxDepth = 128

// maxDigits bounds an integer as Python 3.11 does.
const maxDigits = 4300

// ErrSyntax is what every refusal of Decode wraps.
var ErrSyntax = errors.New("not valid JSON")

// Decode reads one JSON value: Object, []any, string, json.Number, bool or
// nil. Of equal keys the last one counts, in the place of the first, as in a
// Python dict. Invalid UTF-8 and lone surrogates are refused, since no engine
// can store them; a NUL is not.
func Decode(text []byte) (any, error) {
	d := decoder{text: text}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.blanks()
	if d.pos != len(d.text) {
		return nil, d.fail("something follows the value")
	}
	return v, nil
}

// DecodeObject is Decode for a text that must hold an object.
func DecodeObject(text []byte) (Object, error) {
	v, err := Decode(text)
	if err != nil {
		return nil, err
	}
	o, ok := v.(Object)
	if !ok {
		return nil, fmt.Errorf("%w: no object", ErrSyntax)
	}
	return o, nil
}

type decoder struct {
	text []byte
	pos  int
}

func (d *decoder) fail(what string) error {
	return fmt.Errorf("%w: %s at byte %d", ErrSyntax, what, d.pos)
}

func (d *decoder) blanks() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is no blank, or 0 at the end.
func (d *decoder) peek() byte {
	d.blanks()
	if d.pos == len(d.text) {
		return 0
	}
	return d.text[d.pos]
}

func (d *decoder) word(w string, v any) (any, error) {
	if strings.HasPrefix(string(d.text[d.pos:min(len(d.text), d.pos+len(w))]), w) {
		d.pos += len(w)
		return v, nil
	}
	return nil, d.fail("unknown word")
}

func (d *decoder) value(depth int) (any, error) {
	if depth > MaxDepth {
		return nil, d.fail("nested too deep")
	}
	switch c := d.peek(); c {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return d.str()
	case 't':
		return d.word("true", true)
	case 'f':
		return d.word("false", false)
	case 'n':
		return d.word("null", nil)
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return d.number()
		}
		return nil, d.fail("no value")
	}
}

// indexed is the number of keys from which an object's keys are looked up in
// a map, so that many keys cost no square of time.
const indexed = 16

func (d *decoder) object(depth int) (any, error) {
	d.pos++
	out := Object{}
	var places map[string]int
	if d.peek() == '}' {
		d.pos++
		return out, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.fail("no key")
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if d.peek() != ':' {
			return nil, d.fail("no colon")
		}
		d.pos++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out, places = put(out, places, key, v)
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return out, nil
		default:
			return nil, d.fail("no comma")
		}
	}
}

func put(o Object, places map[string]int, key string, v any) (Object, map[string]int) {
	if places == nil && len(o) >= indexed {
		places = make(map[string]int, 2*len(o))
		for i, m := range o {
			places[m.Key] = i
		}
	}
	if places == nil {
		return o.Set(key, v), nil
	}
	if i, ok := places[key]; ok {
		o[i].Value = v
		return o, places
	}
	places[key] = len(o)
	return append(o, Member{key, v}), places
}

func (d *decoder) array(depth int) (any, error) {
	d.pos++
	out := []any{}
	if d.peek() == ']' {
		d.pos++
		return out, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		switch d.peek() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return out, nil
		default:
			return nil, d.fail("no comma")
		}
	}
}

func (d *decoder) number() (any, error) {
	start := d.pos
	if d.text[d.pos] == '-' {
		d.pos++
	}
	whole := d.digits()
	if whole == 0 || whole > 1 && d.text[d.pos-whole] == '0' {
		return nil, d.fail("bad number")
	}
	integer := true
	if d.at('.') {
		d.pos++
		integer = false
		if d.digits() == 0 {
			return nil, d.fail("bad number")
		}
	}
	if d.at('e') || d.at('E') {
		d.pos++
		integer = false
		if d.at('+') || d.at('-') {
			d.pos++
		}
		if d.digits() == 0 {
			return nil, d.fail("bad number")
		}
	}
	if integer && whole > maxDigits {
		return nil, d.fail("number too long")
	}
	return json.Number(d.text[start:d.pos]), nil
}

func (d *decoder) at(c byte) bool {
	return d.pos < len(d.text) && d.text[d.pos] == c
}

func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.text) && d.text[d.pos] >= '0' && d.text[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}

// str reads a string; the common one without escapes is copied in one go.
func (d *decoder) str() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			s := d.text[start:d.pos]
			d.pos++
			if !utf8.Valid(s) {
				return "", d.fail("no UTF-8")
			}
			return string(s), nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.fail("control character in a string")
		default:
			d.pos++
		}
	}
	return "", d.fail("string without an end")
}

func (d *decoder) escaped(start int) (string, error) {
	out := append([]byte(nil), d.text[start:d.pos]...)
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			d.pos++
			if !utf8.Valid(out) {
				return "", d.fail("no UTF-8")
			}
			return string(out), nil
		case c == '\\':
			var err error
			if out, err = d.escape(out); err != nil {
				return "", err
			}
		case c < ' ':
			return "", d.fail("control character in a string")
		default:
			out = append(out, c)
			d.pos++
		}
	}
	return "", d.fail("string without an end")
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape(out []byte) ([]byte, error) {
	if d.pos+1 >= len(d.text) {
		return nil, d.fail("string without an end")
	}
	c := d.text[d.pos+1]
	if c != 'u' {
		plain, ok := escapes[c]
		if !ok {
			return nil, d.fail("unknown escape")
		}
		d.pos += 2
		return append(out, plain), nil
	}
	r, err := d.unit()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) {
		low, err := d.unit()
		if err != nil {
			return nil, d.fail("lone surrogate")
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return nil, d.fail("lone surrogate")
		}
	}
	return utf8.AppendRune(out, r), nil
}

// unit reads \uXXXX.
func (d *decoder) unit() (rune, error) {
	if d.pos+6 > len(d.text) || d.text[d.pos] != '\\' || d.text[d.pos+1] != 'u' {
		return 0, d.fail("bad escape")
	}
	var r rune
	for _, c := range d.text[d.pos+2 : d.pos+6] {
		i := strings.IndexByte(hex, c|0x20)
		if i < 0 || (c < '0' || c > '9') && c|0x20 < 'a' {
			return 0, d.fail("bad escape")
		}
		r = r<<4 | rune(i)
	}
	d.pos += 6
	return r, nil
}
