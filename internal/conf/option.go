package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is how the text of an option is read.
type Kind string

// The kinds of oslo.config's types that Keystone uses (Lists is a dict of lists
// in brackets), and our own: Digits is a number written in digits alone,
// Prefixes a list of networks, OfLimit a Limit, Paths a list of routes.
const (
	String   Kind = "string"
	URI      Kind = "uri"
	Int      Kind = "int"
	Float    Kind = "float"
	Bool     Kind = "bool"
	List     Kind = "list"
	Multi    Kind = "multi"
	Dict     Kind = "dict"
	Lists    Kind = "lists"
	Digits   Kind = "digits"
	Prefixes Kind = "prefixes"
	OfLimit  Kind = "limit"
	Paths    Kind = "paths"
)

// Name is where an option stands in a file.
type Name struct{ Section, Option string }

// String gives the form used in messages.
func (n Name) String() string { return "[" + n.Section + "] " + n.Option }

// Option is what the tags of a field say.
type Option struct {
	Name
	Kind       Kind
	Nullable   bool    // the field can hold "unset"
	Default    *string // nil: unset
	Min, Max   *float64
	Choices    []string
	Items      []string // choices of a list's items
	Schemes    []string // that a URL may have
	MaxLength  int      // in characters; 0: any
	AnyCase    bool     // choices are compared without letter case
	Was        []Name   // older names, the first one preferred
	Gone       bool     // earlier releases had it, the newest has not
	Removal    string   // since when Python Keystone means to drop it
	Secret     bool     // never shown
	Dashed     bool     // oslo.log registers it as log-file, not log_file
	Effect     string   // "yes", "default" (only its default is served) or ""
	When       string   // a sibling that must be true for bounds and presence to matter
	Sample     *string
	Help       string
	fieldIndex []int // in Config, or in its RateLimitRoutes[route]
	route      int   // of the option of a route's section; else -1
}

// Options lists every option in the order of the sections' fields.
func Options() []*Option { return table().all }

type optionTable struct {
	all      []*Option
	byName   map[Name]*Option // current names
	older    map[Name][]*Option
	sections map[string][]string // lower-case section (DEFAULT as it is) → option names
}

var table = sync.OnceValue(buildTable)

// ours tells the sections that Python Keystone does not have: there an
// unknown option is a fault.
func ours(section string) bool {
	return section == "keystone_go" || section == "rate_limit" || strings.HasPrefix(section, "rate_limit_")
}

func buildTable() *optionTable {
	t := &optionTable{byName: map[Name]*Option{}, older: map[Name][]*Option{}, sections: map[string][]string{}}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		section := config.Field(i)
		name := section.Tag.Get("ini")
		if name == "" {
			continue
		}
		for _, f := range tagged(section.Type) {
			o := newOption(name, f)
			o.fieldIndex = append([]int{i}, f.Index...)
			if price, ok := packagedPrices[o.Option]; ok && name == "rate_limit_default" {
				o.Sample = &price
			}
			t.add(o)
		}
	}
	return t
}

// tagged are the fields of a section that are options, those of the structs
// that it is made of among them.
func tagged(section reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(section), func(f reflect.StructField) bool {
		return f.Tag.Get("ini") == ""
	})
}

func (t *optionTable) add(o *Option) {
	t.all = append(t.all, o)
	t.byName[o.Name] = o
	t.sections[o.Section] = append(t.sections[o.Section], o.Option)
	for _, w := range o.Was {
		t.older[w] = append(t.older[w], o)
	}
}

func newOption(section string, f reflect.StructField) *Option {
	o := &Option{
		Name:    Name{section, f.Tag.Get("ini")},
		route:   -1,
		Kind:    kindOf(f),
		AnyCase: f.Tag.Get("anycase") != "",
		Removal: f.Tag.Get("removal"),
		Secret:  f.Tag.Get("secret") != "",
		Gone:    f.Tag.Get("gone") != "",
		Dashed:  f.Tag.Get("dashed") != "",
		Effect:  f.Tag.Get("effect"),
		When:    f.Tag.Get("when"),
		Help:    f.Tag.Get("help"),
		Min:     number(f, "min"),
		Max:     number(f, "max"),
	}
	o.Nullable = f.Type.Kind() == reflect.Pointer
	if d, ok := f.Tag.Lookup("default"); ok {
		o.Default = &d
	}
	if s, ok := f.Tag.Lookup("sample"); ok {
		o.Sample = &s
	}
	if c, ok := f.Tag.Lookup("choices"); ok {
		o.Choices = strings.Split(c, ",")
	}
	if c, ok := f.Tag.Lookup("items"); ok {
		o.Items = strings.Split(c, ",")
	}
	if c, ok := f.Tag.Lookup("schemes"); ok {
		o.Schemes = strings.Split(c, ",")
	}
	if n := number(f, "maxlength"); n != nil {
		o.MaxLength = int(*n)
	}
	if w := f.Tag.Get("was"); w != "" {
		for old := range strings.SplitSeq(w, ",") {
			s, n, _ := strings.Cut(old, "/")
			o.Was = append(o.Was, Name{normalSection(s), n})
		}
	}
	// An option that lists itself as its older name says nothing.
	o.Was = slices.DeleteFunc(o.Was, func(n Name) bool { return n == o.Name })
	return o
}

func kindOf(f reflect.StructField) Kind {
	if k := f.Tag.Get("kind"); k != "" {
		return Kind(k)
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return String
	case reflect.Int:
		return Int
	case reflect.Float64:
		return Float
	case reflect.Bool:
		return Bool
	case reflect.Slice:
		return List
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return Lists
		}
		return Dict
	}
	panic(fmt.Sprintf("conf: field %s has a type that no kind reads", f.Name))
}

func number(f reflect.StructField, tag string) *float64 {
	s, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("conf: tag %s of field %s: %v", tag, f.Name, err))
	}
	return &n
}

// normalSection folds the letter case of a section's name as oslo.config
// does: DEFAULT is itself in capitals alone.
func normalSection(s string) string {
	if s == "DEFAULT" {
		return s
	}
	return strings.ToLower(s)
}
