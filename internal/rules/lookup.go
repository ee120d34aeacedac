package rules

import (
	"fmt"
	"reflect"
)

// Fields is a value in the credentials whose parts are worked out only when a
// rule asks for them. Field reports false for a name it does not have.
type Fields interface {
	Field(name string) (any, bool)
}

// find follows the path into the credentials and compares what it ends at. A
// list on the way stands for each of its elements. A system scope goes under
// "system" too, as oslo.policy has it.
func (r *run) find(path []string, match string) verdict {
	value, ok := r.creds[path[0]]
	if scope := r.creds["system_scope"]; path[0] == "system" && scope != nil && scope != "" {
		value, ok = scope, true
	}
	if !ok {
		return no
	}
	return r.descend(value, path[1:], match)
}

func (r *run) descend(value any, path []string, match string) verdict {
	switch list := value.(type) {
	case string:
		return r.end(value, path, match)
	case []string:
		return anyOf(r, list, path, match)
	case []any:
		return anyOf(r, list, path, match)
	case []map[string]any:
		return anyOf(r, list, path, match)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return anyOf(r, list, path, match)
	}
	return r.end(value, path, match)
}

func anyOf[T any](r *run, list []T, path []string, match string) verdict {
	for _, item := range list {
		if v := r.end(item, path, match); v != no {
			return v
		}
	}
	return no
}

// end compares the value when the path is used up, and else takes one more step.
func (r *run) end(value any, path []string, match string) verdict {
	if !r.step() {
		return r.fail(ErrEndless)
	}
	if len(path) == 0 {
		if s, ok := value.(string); ok {
			return verdictOf(s == match)
		}
		return verdictOf(Str(value) == match)
	}
	next, has, ok := member(value, path[0])
	switch {
	case !ok:
		return r.fail(fmt.Errorf("a credential on the way to %q has no parts", path[0]))
	case !has:
		return no
	}
	return r.descend(next, path[1:], match)
}

// member gives a part of a value; ok is false when the value has no parts.
func member(value any, name string) (part any, has, ok bool) {
	switch m := value.(type) {
	case map[string]any:
		part, has = m[name]
		return part, has, true
	case Fields:
		part, has = m.Field(name)
		return part, has, true
	}
	m := reflect.ValueOf(value)
	if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
		return nil, false, false
	}
	v := m.MapIndex(reflect.ValueOf(name).Convert(m.Type().Key()))
	if !v.IsValid() {
		return nil, false, true
	}
	return v.Interface(), true, true
}
