package v3

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// field is what a schema says about one member of an object.
type field struct {
	name     string
	kind     kind
	nullable bool
	required bool
	// min and max bound a string's characters, a number's value or an array's
	// items; max 0 is no bound.
	min, max int
	// oneOf are the strings there may be.
	oneOf []string
	// pattern must be found in a string.
	pattern *regexp.Regexp
	// fields are the members of an object, which refuses others if strict, and
	// the items of an array all have the form of its first field.
	fields []field
	strict bool
	// unique refuses an array that holds a string twice.
	unique bool
	// sealed is a text that is encrypted before it is stored, and may hold any
	// character.
	sealed bool
}

type kind int

const (
	text kind = iota
	boolean
	object
	array
	number
	// loose is a truth value or one of the words that jsonschema's enum of
	// Keystone has for it.
	loose
	integer
)

func (k kind) String() string {
	return [...]string{"string", "boolean", "object", "array", "number", "boolean", "integer"}[k]
}

func (k kind) fits(v any) bool {
	switch v := v.(type) {
	case string:
		return k == text || k == loose && slices.Contains(looseWords, v)
	case bool:
		return k == boolean || k == loose
	case pyjson.Object:
		return k == object
	case []any:
		return k == array
	case json.Number:
		return k == number || k == integer && isWhole(v)
	}
	return false
}

// isWhole reports whether a number has no fraction, however it is written: 5.0
// has none.
func isWhole(n json.Number) bool {
	v, err := n.Float64()
	return err == nil && v == math.Trunc(v)
}

// looseWords are the strings that pass for truth values
// (keystone/api/validation/parameter_types.py).
var looseWords = []string{
	"True", "TRUE", "true", "False", "FALSE", "false", "", "1", "0", "y", "Y", "n", "N", "on", "ON", "off", "OFF", "yes", "no",
}

// looseBool is what such a value means.
func looseBool(v any) bool {
	word, isText := v.(string)
	return v == true || isText && word != "" && hints.Bool(word)
}

// shape is the schema of a request body: one object under a key.
type shape struct {
	key    string
	fields []field
	// alone refuses other keys beside key.
	alone bool
	// least is how many members the object must have.
	least int
	// strict refuses members that are not in fields.
	strict bool
	// optional lets the key be missing.
	optional bool
	// late has it checked after the rule is asked, on the rows where Python
	// Keystone does so.
	late bool
	// bare has no object under the key, but a value of its one field.
	bare bool
}

// check is a Route's Check for the body (keystone/api/validation). Only the
// status is Python's, its words are jsonschema's own.
func (s shape) check(c *Call) error {
	v, found := c.JSON().Get(s.key)
	if s.alone && len(c.JSON()) > 1 || !found && s.optional && len(c.JSON()) > 0 && s.alone {
		return invalid("additional properties are not allowed beside %q", s.key)
	}
	if !found && s.optional {
		return nil
	}
	if !found {
		return invalid("%q is a required property", s.key)
	}
	if s.bare {
		return s.fields[0].check(v)
	}
	o, isObject := v.(pyjson.Object)
	if !isObject {
		return invalid("%q is not of type object", s.key)
	}
	if len(o) < s.least {
		return invalid("%q does not have enough properties", s.key)
	}
	return checkMembers(o, s.fields, s.strict)
}

// checkMembers checks an object against its fields, and refuses others if
// strict.
func checkMembers(o pyjson.Object, fields []field, strict bool) error {
	for _, f := range fields {
		v, found := o.Get(f.name)
		if !found {
			if f.required {
				return invalid("%q is a required property", f.name)
			}
			continue
		}
		if err := f.check(v); err != nil {
			return err
		}
	}
	if !strict {
		return nil
	}
	for _, m := range o {
		if _, known := find(fields, m.Key); !known {
			return invalid("additional property %q is not allowed", m.Key)
		}
	}
	return nil
}

func (f field) check(v any) error {
	if v == nil && f.nullable {
		return nil
	}
	if !f.kind.fits(v) {
		return invalid("field/attribute %s is not of type %s", f.name, f.kind)
	}
	switch v := v.(type) {
	case string:
		return f.checkText(v)
	case pyjson.Object:
		return checkMembers(v, f.fields, f.strict)
	case []any:
		return f.checkItems(v)
	case json.Number:
		return f.checkNumber(v)
	}
	return nil
}

func (f field) checkItems(items []any) error {
	switch {
	case len(items) < f.min:
		return invalid("field/attribute %s has too few items", f.name)
	case f.max > 0 && len(items) > f.max:
		return invalid("field/attribute %s has too many items", f.name)
	}
	seen := map[string]bool{}
	for _, v := range items {
		if len(f.fields) > 0 {
			if err := f.fields[0].check(v); err != nil {
				return err
			}
		}
		if s, isText := v.(string); isText && f.unique {
			if seen[s] {
				return invalid("field/attribute %s has non-unique items", f.name)
			}
			seen[s] = true
		}
	}
	return nil
}

func (f field) checkNumber(n json.Number) error {
	v, err := n.Float64()
	if err != nil || v < float64(f.min) || f.max > 0 && v > float64(f.max) {
		return invalid("field/attribute %s is out of range", f.name)
	}
	return nil
}

func (f field) checkText(s string) error {
	n := utf8.RuneCountInString(s)
	switch {
	case n < f.min:
		return invalid("field/attribute %s is too short", f.name)
	case f.max > 0 && n > f.max:
		return invalid("field/attribute %s is too long", f.name)
	case !f.sealed && strings.ContainsRune(s, 0):
		return invalid("field/attribute %s holds a character that cannot be stored", f.name)
	case len(f.oneOf) > 0 && !slices.Contains(f.oneOf, s):
		return invalid("field/attribute %s is not one of %s", f.name, strings.Join(f.oneOf, ", "))
	case f.pattern != nil && !f.pattern.MatchString(s):
		return invalid("field/attribute %s does not match %s", f.name, f.pattern)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fault.New(fault.BadRequest, "Invalid input: %s.", fmt.Sprintf(format, args...))
}

// query is the schema of a request's parameters; others are refused if strict.
type query struct {
	strict bool
	fields []field
}

func (q query) check(c *Call) error { return checkQuery(c, q.strict, q.fields...) }

// checkQuery checks the query against fields, and refuses others if strict.
func checkQuery(c *Call, strict bool, fields ...field) error {
	for name, values := range c.QueryValues() {
		f, known := find(fields, name)
		if !known {
			if strict {
				return invalid("query parameter %q is not allowed", name)
			}
			continue
		}
		v := values[0] // Python looks at no other
		if f.kind == loose && !slices.Contains(looseWords, v) {
			return invalid("query parameter %s is no truth value", name)
		}
		if err := f.checkText(v); err != nil {
			return err
		}
	}
	return nil
}

func find(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}
