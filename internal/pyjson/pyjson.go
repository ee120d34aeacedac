// Package pyjson reads and writes JSON the way Python's json module does: keys
// keep their order, separators have a blank behind them, and everything
// outside ASCII is escaped. Answers and the `extra` columns of a shared
// database are then equal byte for byte whichever server wrote them.
package pyjson

import "slices"

// Member is one key of an Object and its value.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object that keeps the order of its keys.
type Object []Member

// Get returns the value of a key, and whether the key is there.
func (o Object) Get(key string) (any, bool) {
	if i := o.index(key); i >= 0 {
		return o[i].Value, true
	}
	return nil, false
}

// String returns the value of a key that holds a string; ok is false when the
// key is missing or holds something else.
func (o Object) String(key string) (s string, ok bool) {
	v, _ := o.Get(key)
	s, ok = v.(string)
	return s, ok
}

// Object returns the value of a key that holds an object; ok is false when the
// key is missing or holds something else.
func (o Object) Object(key string) (sub Object, ok bool) {
	v, _ := o.Get(key)
	sub, ok = v.(Object)
	return sub, ok
}

// Set returns the object with key set: in its old place, or at the end. Like
// append, it may write to the array behind o.
func (o Object) Set(key string, value any) Object {
	if i := o.index(key); i >= 0 {
		o[i].Value = value
		return o
	}
	return append(o, Member{key, value})
}

// Without returns a copy of the object that lacks the given keys.
func (o Object) Without(keys ...string) Object {
	out := make(Object, 0, len(o))
	for _, m := range o {
		if !contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out
}

// Map returns the object as a map; nested objects become maps too.
func (o Object) Map() map[string]any {
	out := make(map[string]any, len(o))
	for _, m := range o {
		out[m.Key] = plain(m.Value)
	}
	return out
}

func plain(v any) any {
	switch v := v.(type) {
	case Object:
		return v.Map()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}

func (o Object) index(key string) int {
	for i := range o {
		if o[i].Key == key {
			return i
		}
	}
	return -1
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// Raw is a value that is encoded already; it is written as it stands.
type Raw string

// Append writes v in the form of Python's json.dumps to dst. Plain values,
// Object, maps with string keys (in sorted order), slices and pointers are
// known without reflection or through it; what has no JSON form is null.
func Append(dst []byte, v any) []byte {
	return writer{item: ", ", key: ": "}.value(dst, v)
}

// AppendCompact is Append without blanks and with the keys of every object
// sorted, the form of Keystone's error bodies.
func AppendCompact(dst []byte, v any) []byte {
	return writer{item: ",", key: ":", sorted: true}.value(dst, v)
}

// AppendDense appends v with no blanks and its keys in their order, as
// json.dumps(v, separators=(",", ":")) writes it.
func AppendDense(dst []byte, v any) []byte {
	return writer{item: ",", key: ":"}.value(dst, v)
}

// Encode is Append into a new string.
func Encode(v any) string {
	return string(Append(nil, v))
}

// ReadExtra reads an `extra` column. Python Keystone writes an object or
// nothing; what is neither has no members that could be shown.
func ReadExtra(text string) Object {
	if text == "" || text == "{}" {
		return nil
	}
	o, err := DecodeObject([]byte(text))
	if err != nil {
		return nil
	}
	return o
}

// WriteExtra is the text of an `extra` column, which is never null: Python
// fails on reading that.
func WriteExtra(o Object) string {
	if len(o) == 0 {
		return "{}"
	}
	return Encode(o)
}

// Merge adds members to a copy of the object, over those of the same keys.
func (o Object) Merge(more Object) Object {
	out := slices.Clone(o)
	for _, m := range more {
		out = out.Set(m.Key, m.Value)
	}
	return out
}
