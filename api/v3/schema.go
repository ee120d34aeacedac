package v3

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// field is what a schema says about one member of an object.
type field struct {
	name     string
	kind     kind
	nullable bool
	required bool
	// min and max bound a string's characters; max 0 is no bound.
	min, max int
}

type kind int

const (
	text kind = iota
	boolean
	object
	array
	number
)

func (k kind) String() string {
	return [...]string{"string", "boolean", "object", "array", "number"}[k]
}

func (k kind) fits(v any) bool {
	switch v.(type) {
	case string:
		return k == text
	case bool:
		return k == boolean
	case pyjson.Object:
		return k == object
	case []any:
		return k == array
	case json.Number:
		return k == number
	}
	return false
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
}

// check is a Route's Check for the body (keystone/api/validation). Only the
// status is Python's, its words are jsonschema's own.
func (s shape) check(c *Call) error {
	v, found := c.JSON().Get(s.key)
	if !found {
		return invalid("%q is a required property", s.key)
	}
	if s.alone && len(c.JSON()) > 1 {
		return invalid("additional properties are not allowed beside %q", s.key)
	}
	o, isObject := v.(pyjson.Object)
	if !isObject {
		return invalid("%q is not of type object", s.key)
	}
	if len(o) < s.least {
		return invalid("%q does not have enough properties", s.key)
	}
	for _, f := range s.fields {
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
	if s.strict {
		for _, m := range o {
			if !s.knows(m.Key) {
				return invalid("additional property %q is not allowed", m.Key)
			}
		}
	}
	return nil
}

func (s shape) knows(name string) bool {
	for _, f := range s.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

func (f field) check(v any) error {
	if v == nil && f.nullable {
		return nil
	}
	if !f.kind.fits(v) {
		return invalid("field/attribute %s is not of type %s", f.name, f.kind)
	}
	if s, isText := v.(string); isText {
		return f.checkText(s)
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
	case strings.ContainsRune(s, 0):
		return invalid("field/attribute %s holds a character that cannot be stored", f.name)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fault.New(fault.BadRequest, "Invalid input: %s.", fmt.Sprintf(format, args...))
}

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
		for _, v := range values {
			if err := f.checkText(v); err != nil {
				return err
			}
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
