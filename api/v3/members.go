package v3

import (
	"context"
	"strings"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/resource"
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
// A key that is sent under its own name stands: "user-id" must not take the
// place of the "user_id" that was checked.
func normalized(body pyjson.Object) pyjson.Object {
	out := make(pyjson.Object, 0, len(body))
	for _, m := range body {
		key := strings.NewReplacer(":", "_", "-", "_").Replace(m.Key)
		if _, own := body.Get(key); own && key != m.Key {
			continue
		}
		out = out.Set(key, m.Value)
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

// change is what a member sets of a text: nil where it is missing, and where it
// is null a pointer to nil.
func change(o pyjson.Object, key string) **string {
	v, given := o.Get(key)
	if !given {
		return nil
	}
	return nullable(v)
}

// optionChange is what a body says of the option "immutable".
func optionChange(body pyjson.Object) resource.OptionChange {
	options, _ := body.Object("options")
	_, given := options.Get("immutable")
	return resource.OptionChange{Given: given, Value: optionalFlag(options, "immutable"), Alone: len(body) == 1}
}

// done answers what has no more to say than that it is done.
func done(err error) (Reply, error) { return noContent(), err }

// about lets a rule look at an object: as target.<name>.
func about(name string, o pyjson.Object) policy.Target {
	t := policy.Target{}
	t.AddObject("target."+name, o)
	return t
}

// aboutSent is a Target that lets the rule look at what is to be made, but for
// its secrets.
func aboutSent(key string) func(*Call) (policy.Target, error) {
	return func(c *Call) (policy.Target, error) { return about(key, withoutSecrets(normalized(c.sent(key)))), nil }
}

// ownDomain is a Target that lets a rule look at the domain of a token for one.
func ownDomain(key string) func(*Call) (policy.Target, error) {
	return func(c *Call) (policy.Target, error) {
		if c.Caller.Domain == nil {
			return nil, nil
		}
		return policy.Target{key: c.Caller.Domain.ID}, nil
	}
}

// scopedDomain is the domain of a token for one, else "".
func (c *Call) scopedDomain() string { return c.homeDomain("") }

// homeDomain is where a request makes things that names no domain: that of a
// token for one, else the default domain.
func (c *Call) homeDomain(usual string) string {
	if d := c.Caller.Domain; d != nil {
		return d.ID
	}
	return usual
}

// thing is one object of a path: how it is loaded, and how it is shown, to the
// rule and in answers.
type thing[T any] struct {
	name string // of its key in bodies; its argument of the path is <name>_id
	get  func(context.Context, string) (T, error)
	view func(*Call, T) pyjson.Object
}

// target loads the object for the rule, and keeps it for what follows.
func (o thing[T]) target(c *Call) (policy.Target, error) {
	v, err := o.get(c.Ctx(), c.Param(o.name+"_id"))
	if err != nil {
		return nil, err
	}
	c.Object = v
	return about(o.name, o.view(c, v)), nil
}

// show answers with the object that target loaded.
func (o thing[T]) show(c *Call) (Reply, error) { return ok(o.name, o.view(c, c.Object.(T))), nil }

// made and changed answer with an object that was stored.
func (o thing[T]) made(c *Call, v T, err error) (Reply, error) {
	if err != nil {
		return Reply{}, err
	}
	return created(o.name, o.view(c, v)), nil
}

func (o thing[T]) changed(c *Call, v T, err error) (Reply, error) {
	if err != nil {
		return Reply{}, err
	}
	return ok(o.name, o.view(c, v)), nil
}

// secrets are the members of bodies that nobody but their handler may see.
var secrets = []string{"password", "original_password", "secret", "blob"}

// withoutSecrets leaves them, and more, out of an object and of the objects in
// it.
func withoutSecrets(o pyjson.Object, more ...string) pyjson.Object {
	out := o.Without(secrets...).Without(more...)
	for i, m := range out {
		if inner, isObject := m.Value.(pyjson.Object); isObject {
			out[i].Value = withoutSecrets(inner, more...)
		}
	}
	return out
}
