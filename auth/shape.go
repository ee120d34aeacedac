package auth

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// shape is the part of JSON schema that the login body needs
// (keystone/auth/schema.py): the type of a value and of the values in it.
type shape struct {
	kind     string // "object", "string", "array", "boolean", "scope"
	required []string
	named    bool // an object that needs a non-missing id or name
	item     *shape
	fields   map[string]*shape
	max      int // characters; 0: no bound
}

// maxName is the longest name that any table holds, in characters; a longer
// one is refused before it becomes a key of anything.
const maxName = 255

var (
	text      = &shape{kind: "string"}
	nameText  = &shape{kind: "string", max: maxName}
	domainRef = &shape{kind: "object", named: true, fields: map[string]*shape{"id": text, "name": nameText}}
	authShape = &shape{kind: "object", required: []string{"identity"}, fields: map[string]*shape{
		"identity": {kind: "object", required: []string{"methods"}, fields: map[string]*shape{
			"methods": {kind: "array", item: text},
			"password": {kind: "object", fields: map[string]*shape{
				"user": {kind: "object", named: true, fields: map[string]*shape{
					"id": text, "name": nameText, "password": text, "domain": domainRef,
				}},
			}},
			"token": {kind: "object", required: []string{"id"}, fields: map[string]*shape{"id": text}},
		}},
		"scope": {kind: "scope", fields: map[string]*shape{
			"project": {kind: "object", named: true, fields: map[string]*shape{
				"id": text, "name": nameText, "domain": domainRef,
			}},
			"domain":         domainRef,
			"OS-TRUST:trust": {kind: "object", fields: map[string]*shape{"id": text}},
			"system":         {kind: "object", fields: map[string]*shape{"all": {kind: "boolean"}}},
		}},
	}}
)

func bad(path, format string, args ...any) error {
	if path == "" {
		return fault.New(fault.BadRequest, format, args...)
	}
	return fault.New(fault.BadRequest, "Invalid input for field '"+path+"': "+format, args...)
}

// check holds a value against the shape; path names it in the message.
func (s *shape) check(path string, v any) error {
	switch x := v.(type) {
	case pyjson.Object:
		if s.kind == "object" || s.kind == "scope" {
			return s.checkObject(path, x)
		}
	case []any:
		if s.kind == "array" {
			for _, item := range x {
				if err := s.item.check(path, item); err != nil {
					return err
				}
			}
			return nil
		}
	case string:
		if s.kind == "string" && s.max > 0 && utf8.RuneCountInString(x) > s.max {
			return bad(path, "the value is longer than %d characters", s.max)
		}
		if s.kind == "string" || s.kind == "scope" {
			return nil
		}
	case bool:
		if s.kind == "boolean" {
			return nil
		}
	}
	kind := "'" + s.kind + "'"
	if s.kind == "scope" {
		kind = "'object', 'string'"
	}
	return bad(path, "%s is not of type %s", typeName(v), kind)
}

func (s *shape) checkObject(path string, o pyjson.Object) error {
	for _, key := range s.required {
		if _, ok := o.Get(key); !ok {
			return bad(path, "'%s' is a required property", key)
		}
	}
	for _, m := range o {
		sub, ok := s.fields[m.Key]
		if !ok {
			continue
		}
		where := m.Key
		if path != "" {
			where = path + "/" + m.Key
		}
		if err := sub.check(where, m.Value); err != nil {
			return err
		}
	}
	_, id := o.Get("id")
	_, name := o.Get("name")
	if s.named && !id && !name {
		return fault.New(fault.BadRequest, "Invalid input for field %s: id or name must be present.", path)
	}
	return nil
}

// typeName says what a value is without repeating it: it may be a password.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}
