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
		if _, ok := descriptions[key]; !ok {
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
	d := descriptions[r.Method+" "+r.Path]
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
	props, required := pyjson.Object{}, []any{}
	for _, f := range s.fields {
		props = props.Set(f.name, f.schema())
		if f.required {
			required = append(required, f.name)
		}
	}
	inner := member("type", "object", "properties", props)
	if len(required) > 0 {
		inner = inner.Set("required", required)
	}
	if s.least > 0 {
		inner = inner.Set("minProperties", s.least)
	}
	if s.strict {
		inner = inner.Set("additionalProperties", false)
	}
	outer := member("type", "object", "required", []any{s.key}, "properties", member(s.key, inner))
	if s.alone {
		outer = outer.Set("additionalProperties", false)
	}
	return outer
}

func (f field) schema() pyjson.Object {
	var kind any = f.kind.String()
	if f.nullable {
		kind = []any{kind, "null"}
	}
	o := member("type", kind)
	if f.kind == text && f.min > 0 {
		o = o.Set("minLength", f.min)
	}
	if f.kind == text && f.max > 0 {
		o = o.Set("maxLength", f.max)
	}
	return o
}
