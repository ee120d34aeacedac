// Package hints holds what a list request asks for: filters, a page and a
// limit (keystone/common/driver_hints.py), and turns it into SQL as far as the
// columns go. What is left over is matched against the answer's members.
package hints

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Filter is one condition of a list: that an attribute equals, contains, starts
// with or ends with a value.
type Filter struct {
	Name, Value string
	// Op is "equals", or a comparator of the query: "contains", "startswith",
	// "endswith"; any other matches whatever has the attribute.
	Op string
	// Fold ignores the case of letters.
	Fold bool
}

// Hints are the conditions of a list, all of which must hold.
type Hints struct {
	Filters []Filter
	// Marker is the id after which a page begins; nil is the beginning.
	Marker *string
	// Limit bounds the list, where Limited; it may be 0.
	Limit   int
	Limited bool
	// Max bounds a paged list that has no other limit, without telling: 0 does
	// not.
	Max int
}

// Parse reads the pairs of a query, in their order: the exact filters among
// names, and name__comparator for each of them. The rest is ignored.
func Parse(query []Pair, names []string) []Filter {
	var out []Filter
	for _, p := range query {
		if slices.Contains(names, p.Name) {
			out = append(out, Filter{Name: p.Name, Value: p.Value, Op: "equals"})
			continue
		}
		name, op, found := strings.Cut(p.Name, "__")
		if !found || !slices.Contains(names, name) {
			continue
		}
		op, fold := strings.CutPrefix(op, "i")
		out = append(out, Filter{Name: name, Value: p.Value, Op: op, Fold: fold})
	}
	return out
}

// Pair is a parameter of a query.
type Pair struct{ Name, Value string }

// Column is where a filter's attribute is stored.
type Column struct {
	SQL string
	// Bool is set for a column of truth values.
	Bool bool
	// Max is the column's length in characters; a longer value equals nothing.
	Max int
}

// Where adds the filters that the columns can answer, and gives the others.
// Comparators that mind the case of letters are among the others, as in Python
// Keystone, which matters where a limit is in play.
func (h Hints) Where(w *db.Where, columns map[string]Column) (rest []Filter) {
	for _, f := range h.Filters {
		c, known := columns[f.Name]
		switch {
		case !known, f.Op != "equals" && (!f.Fold || c.Bool || !f.comparable()):
			rest = append(rest, f)
		case c.Bool:
			w.And(c.SQL+` = ?`, Bool(f.Value))
		case c.Max > 0 && utf8.RuneCountInString(f.Value) > c.Max:
			w.And(c.SQL + ` is null and ` + c.SQL + ` is not null`)
		case f.Op != "equals":
			w.And(`lower(`+c.SQL+`) like lower(?) escape '!'`, f.pattern())
		default:
			w.And(c.SQL+` = ?`, f.Value)
		}
	}
	return rest
}

// comparable reports whether the comparator is one that texts can be compared by.
func (f Filter) comparable() bool {
	return f.Op == "contains" || f.Op == "startswith" || f.Op == "endswith"
}

// pattern leaves % and _ their meaning, as Python Keystone does.
func (f Filter) pattern() string {
	v := strings.ReplaceAll(f.Value, "!", "!!")
	switch f.Op {
	case "startswith":
		return v + "%"
	case "endswith":
		return "%" + v
	}
	return "%" + v + "%"
}

// Bool reads a truth value as oslo's bool_from_string does with true for what
// it does not know.
func Bool(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "f", "false", "0", "off", "n", "no":
		return false
	}
	return true
}

// Match reports whether an answer's object passes the filters. A member of an
// object inside is named with dots.
func Match(o pyjson.Object, filters []Filter) bool {
	for _, f := range filters {
		if !f.match(o) {
			return false
		}
	}
	return true
}

func (f Filter) match(o pyjson.Object) bool {
	v, found := member(o, f.Name)
	if !found {
		return false
	}
	if f.Op != "equals" && !f.comparable() {
		return true
	}
	if b, isBool := v.(bool); isBool && f.Op == "equals" {
		return b == Bool(f.Value)
	}
	s, isText := v.(string)
	if p, isPointer := v.(*string); isPointer && p != nil {
		s, isText = *p, true
	}
	if !isText {
		return false
	}
	value := f.Value
	if f.Fold && f.Op != "equals" {
		s, value = strings.ToLower(s), strings.ToLower(value)
	}
	switch f.Op {
	case "equals":
		return s == value
	case "contains":
		return strings.Contains(s, value)
	case "startswith":
		return strings.HasPrefix(s, value)
	default:
		return strings.HasSuffix(s, value)
	}
}

func member(o pyjson.Object, path string) (any, bool) {
	if v, found := o.Get(path); found {
		return v, true
	}
	head, tail, nested := strings.Cut(path, ".")
	if !nested {
		return nil, false
	}
	inner, isObject := o.Object(head)
	if !isObject {
		return nil, false
	}
	return member(inner, tail)
}
