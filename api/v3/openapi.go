package v3

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// described is what the OpenAPI document says of a row beyond the table.
type described struct {
	summary string
	body    pyjson.Object // JSON Schema of the request body; nil where none is read
	query   []parameter
	headers []parameter
	// answers are the statuses of success, with what their body holds.
	answers map[int]string
	// also are refusals of this row that the others do not have.
	also []int
}

// parameter is one in the query or a header.
type parameter struct {
	name, about string
	required    bool
	schema      pyjson.Object
}

// member builds an object from names and values in turn.
func member(pairs ...any) pyjson.Object {
	out := make(pyjson.Object, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, pyjson.Member{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return out
}

// OpenAPI describes the rows as an OpenAPI 3.1 document.
func OpenAPI(rows []Route) pyjson.Object {
	paths := pyjson.Object{}
	for _, r := range rows {
		item, _ := paths.Object(r.Path)
		item = item.Set(strings.ToLower(r.Method), operation(r))
		paths = paths.Set(r.Path, item)
	}
	return member(
		"openapi", "3.1.0",
		"info", member("title", "keystone-go", "version", "v3.14", "description", "The rows of the OpenStack Identity API v3 that are served.",
			"license", member("name", "Apache 2.0", "identifier", "Apache-2.0")),
		"paths", paths,
		"components", member(
			"securitySchemes", member("token", member("type", "apiKey", "in", "header", "name", "X-Auth-Token")),
			"schemas", member("error", errorSchema),
		),
	)
}

// Described gives the rows of which the document has no more to say than the
// table has, and those it describes that the table lacks.
func Described(rows []Route) (missing, unknown []string) {
	known := map[string]bool{}
	for _, r := range rows {
		key := r.Method + " " + r.Path
		known[key] = true
		if _, ok := descriptions[key]; !ok && r.Summary == "" {
			missing = append(missing, key)
		}
	}
	for key := range descriptions {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return missing, unknown
}

var errorSchema = member("type", "object", "required", []any{"error"}, "properties", member("error", member(
	"type", "object", "required", []any{"code", "message", "title"}, "properties", member(
		"code", member("type", "integer"), "message", member("type", "string"), "title", member("type", "string"),
		"identity", member("type", "object", "description", "The methods there are, after a login by another."),
	))))

func operation(r Route) pyjson.Object {
	d := describe(r)
	op := member("summary", d.summary, "operationId", operationID(r))
	if r.Rule != Open {
		op = op.Set("description", "Policy: "+r.Rule).Set("security", []any{member("token", []any{})})
	}
	if params := parameters(r, d); len(params) > 0 {
		op = op.Set("parameters", params)
	}
	if d.body != nil {
		op = op.Set("requestBody", member("required", true, "content", member("application/json", member("schema", d.body))))
	}
	return op.Set("responses", responses(r, d))
}

// describe takes what the row says itself, unless the document has more.
func describe(r Route) described {
	if d, found := descriptions[r.Method+" "+r.Path]; found {
		return d
	}
	d := described{summary: r.Summary, answers: map[int]string{http.StatusOK: "The answer"}}
	switch r.Method {
	case http.MethodPost:
		d.answers = map[int]string{http.StatusCreated: "What was made"}
		d.also = []int{http.StatusConflict}
	case http.MethodPut, http.MethodPatch:
		d.also = []int{http.StatusConflict}
	case http.MethodDelete:
		d.answers = map[int]string{http.StatusNoContent: "It is gone"}
	}
	if r.Status != 0 {
		d.answers = map[int]string{r.Status: "Done"}
	}
	if r.Body != nil {
		d.body = r.Body.schema()
	}
	if r.Query != nil {
		for _, f := range r.Query.fields {
			d.query = append(d.query, parameter{name: f.name, about: "Filters the list.", schema: f.schema()})
		}
	}
	return d
}

// operationID names the row by its method and the words of its path.
func operationID(r Route) string {
	words := strings.FieldsFunc(strings.TrimPrefix(r.Path, "/v3"), func(c rune) bool { return c == '/' || c == '{' || c == '}' })
	if r.Path == "/v3" {
		words = []string{"v3"}
	}
	return strings.Join(append([]string{strings.ToLower(r.Method)}, words...), "_")
}

func parameters(r Route, d described) []any {
	var out []any
	add := func(in string, p parameter) {
		o := member("name", p.name, "in", in)
		if p.required {
			o = o.Set("required", true)
		}
		out = append(out, o.Set("description", p.about).Set("schema", p.schema))
	}
	for _, part := range strings.Split(r.Path, "/") {
		if name, isArg := strings.CutPrefix(part, "{"); isArg {
			name = strings.TrimSuffix(name, "}")
			add("path", parameter{name: name, required: true, about: "The identifier.", schema: member("type", "string", "minLength", 1)})
		}
	}
	for _, p := range d.query {
		add("query", p)
	}
	for _, p := range d.headers {
		add("header", p)
	}
	return out
}

func responses(r Route, d described) pyjson.Object {
	statuses := slices.Concat(refusals(r), d.also)
	for s := range d.answers {
		statuses = append(statuses, s)
	}
	slices.Sort(statuses)
	out := pyjson.Object{}
	for _, s := range slices.Compact(statuses) {
		about, isAnswer := d.answers[s]
		if !isAnswer {
			about = http.StatusText(s)
		}
		answer := member("description", about)
		switch {
		case r.Method == http.MethodHead || s == http.StatusNoContent:
		case !isAnswer:
			answer = answer.Set("content", member("application/json", member("schema", member("$ref", "#/components/schemas/error"))))
		default:
			answer = answer.Set("content", answerContent(r))
		}
		out = out.Set(strconv.Itoa(s), answer)
	}
	return out
}

func answerContent(r Route) pyjson.Object {
	object := member("schema", member("type", "object"))
	switch {
	case r.Path == healthPath:
		text := member("schema", member("type", "string"))
		return member("text/plain", text, "text/html", text, "application/json", object)
	case r.Limit == ratelimit.ClassExempt:
		return member("application/json", object, "application/json-home", object)
	}
	return member("application/json", object)
}

// refusals are the statuses that the pipeline itself may give to a row.
func refusals(r Route) []int {
	if r.Limit == ratelimit.ClassExempt {
		if r.Path == healthPath {
			return nil
		}
		return []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}
	}
	all := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
	}
	if r.Limit == ratelimit.ClassAuth {
		all = append(all, http.StatusServiceUnavailable) // the hashing gate
	}
	return all
}

// schema is the JSON Schema of a shape.
func (s shape) schema() pyjson.Object {
	inner := objectSchema(s.fields, s.strict)
	if s.least > 0 {
		inner = inner.Set("minProperties", s.least)
	}
	if s.bare {
		inner = s.fields[0].schema()
	}
	outer := member("type", "object", "properties", member(s.key, inner))
	if !s.optional {
		outer = outer.Set("required", []any{s.key})
	}
	if s.alone {
		outer = outer.Set("additionalProperties", false)
	}
	return outer
}

func objectSchema(fields []field, strict bool) pyjson.Object {
	props, required := pyjson.Object{}, []any{}
	for _, f := range fields {
		props = props.Set(f.name, f.schema())
		if f.required {
			required = append(required, f.name)
		}
	}
	o := member("type", "object", "properties", props)
	if len(required) > 0 {
		o = o.Set("required", required)
	}
	if strict {
		o = o.Set("additionalProperties", false)
	}
	return o
}

func (f field) schema() pyjson.Object {
	o := pyjson.Object{}
	switch f.kind {
	case object:
		o = objectSchema(f.fields, f.strict)
	case loose:
		return member("enum", append([]any{true, false}, anys(looseWords)...))
	case array:
		o = o.Set("type", "array")
		if len(f.fields) > 0 {
			o = o.Set("items", f.fields[0].schema())
		}
		if f.unique {
			o = o.Set("uniqueItems", true)
		}
	default:
		o = o.Set("type", f.kind.String())
	}
	if f.nullable {
		kind, _ := o.Get("type")
		o = o.Set("type", []any{kind, "null"})
	}
	return f.bounds(o)
}

// bounds adds what limits a value, in the words of its kind.
func (f field) bounds(o pyjson.Object) pyjson.Object {
	least, most := "minLength", "maxLength"
	switch f.kind {
	case array:
		least, most = "minItems", "maxItems"
	case number, integer:
		least, most = "minimum", "maximum"
	case object, boolean, loose:
		return o
	}
	if f.min != 0 {
		o = o.Set(least, f.min)
	}
	if f.max > 0 {
		o = o.Set(most, f.max)
	}
	if len(f.oneOf) > 0 {
		values := anys(f.oneOf)
		if f.nullable {
			values = append(values, nil)
		}
		o = o.Set("enum", values)
	}
	if f.pattern != nil {
		o = o.Set("pattern", f.pattern.String())
	}
	return o
}

func anys(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}
