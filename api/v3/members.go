package v3

import (
	"strings"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// sent is the object under the body's key; empty when there is none.
func (c *Call) sent(key string) pyjson.Object {
	o, _ := c.JSON().Object(key)
	return o
}

// need is the object under the body's key, for shapes whose key is optional.
func (c *Call) need(key string) (pyjson.Object, error) {
	o, found := c.JSON().Object(key)
	if !found {
		return nil, invalid("%q is a required property", key)
	}
	return o, nil
}

// shown puts the columns of a row over the members that it keeps beside them.
func shown(extra, columns pyjson.Object) pyjson.Object {
	out := extra.Without("links")
	for _, m := range columns {
		out = out.Set(m.Key, m.Value)
	}
	return out
}

// linked adds the link of an object to itself.
func (c *Call) linked(o pyjson.Object, parts ...string) pyjson.Object {
	return append(o, pyjson.Member{Key: "links", Value: member("self", c.Link(parts...))})
}

// normalized renames keys with a colon or a dash, which Python Keystone cannot
// have in what it creates (_normalize_dict in keystone/server/flask/common.py).
func normalized(body pyjson.Object) pyjson.Object {
	out := make(pyjson.Object, 0, len(body))
	for _, m := range body {
		out = out.Set(strings.NewReplacer(":", "_", "-", "_").Replace(m.Key), m.Value)
	}
	return out
}

// sameID refuses an update that would change the id.
func sameID(body pyjson.Object, id string) error {
	if given, _ := body.Get("id"); given != nil && given != id {
		return fault.New(fault.BadRequest, "Cannot change ID")
	}
	return nil
}

// optional is a member's string, or nil where it is missing or null.
func optional(o pyjson.Object, key string) *string {
	if s, isText := o.String(key); isText {
		return &s
	}
	return nil
}

// optionalFlag is a member's truth value, or nil where it is missing.
func optionalFlag(o pyjson.Object, key string) *bool {
	v, found := o.Get(key)
	if !found || v == nil {
		return nil
	}
	on := looseBool(v)
	return &on
}

// flag is a member's truth value, or what is usual where it is missing.
func flag(o pyjson.Object, key string, usual bool) bool {
	if v := optionalFlag(o, key); v != nil {
		return *v
	}
	return usual
}
