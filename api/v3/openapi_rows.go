package v3

import "github.com/keystone-go/keystone-go/internal/pyjson"

var (
	anyText  = member("type", "string")
	isText   = func(max int) pyjson.Object { return member("type", "string", "minLength", 1, "maxLength", max) }
	flagText = member("type", "string", "description", "Whatever it says, that it is there counts.")

	subject = parameter{name: "X-Subject-Token", required: true, about: "The token that is asked about.", schema: anyText}
	rules   = parameter{
		name: "OpenStack-Identity-Access-Rules", about: "Sent by callers that know access rules.",
		schema: member("type", "string", "enum", []any{"1", "1.0"}),
	}
	noCatalog = parameter{name: "nocatalog", about: "Leaves the catalog out.", schema: flagText}
	expired   = parameter{name: "allow_expired", about: "Takes a token whose end is within [token] allow_expired_window.", schema: anyText}
)

// descriptions say what the table of routes does not, by method and path. A
// row without one fails a test.
var descriptions = map[string]described{
	"GET /":             {summary: "The versions there are", answers: map[int]string{200: "JSON-home, where it is asked for", 300: "The versions"}},
	"HEAD /":            {summary: "The versions there are", answers: map[int]string{200: "JSON-home, where it is asked for", 300: "The versions"}},
	"GET /v3":           {summary: "This version", answers: map[int]string{200: "The version, or JSON-home"}},
	"HEAD /v3":          {summary: "This version", answers: map[int]string{200: "The version, or JSON-home"}},
	"GET /healthcheck":  {summary: "Whether the server takes requests", answers: map[int]string{200: "It does"}, also: []int{503}},
	"HEAD /healthcheck": {summary: "Whether the server takes requests", answers: map[int]string{204: "It does"}, also: []int{503}},

	"POST /v3/auth/tokens": {
		summary: "Log in", body: loginSchema, query: []parameter{noCatalog},
		headers: []parameter{{name: "Openstack-Auth-Receipt", about: "Of an earlier answer that asked for more factors.", schema: anyText}},
		answers: map[int]string{201: "The token; its identifier is the header X-Subject-Token"},
	},
	"GET /v3/auth/tokens": {
		summary: "Validate a token", query: []parameter{noCatalog, expired}, headers: []parameter{subject, rules},
		answers: map[int]string{200: "The token"},
	},
	"HEAD /v3/auth/tokens": {
		summary: "Check a token", query: []parameter{noCatalog, expired}, headers: []parameter{subject, rules},
		answers: map[int]string{200: "It is valid"},
	},
	"DELETE /v3/auth/tokens": {summary: "Revoke a token", headers: []parameter{subject}, answers: map[int]string{204: "It is revoked"}},

	"GET /v3/auth/catalog":   {summary: "The catalog of the token", answers: map[int]string{200: "Services with their endpoints"}},
	"HEAD /v3/auth/catalog":  {summary: "The catalog of the token", answers: map[int]string{200: "There is one"}},
	"GET /v3/auth/projects":  {summary: "The projects that the user may be scoped to", answers: map[int]string{200: "Projects"}},
	"HEAD /v3/auth/projects": {summary: "The projects that the user may be scoped to", answers: map[int]string{200: "Projects"}},
	"GET /v3/auth/domains":   {summary: "The domains that the user may be scoped to", answers: map[int]string{200: "Domains"}},
	"HEAD /v3/auth/domains":  {summary: "The domains that the user may be scoped to", answers: map[int]string{200: "Domains"}},
	"GET /v3/auth/system":    {summary: "Whether the user may be scoped to the system", answers: map[int]string{200: "The system, or nothing"}},
	"HEAD /v3/auth/system":   {summary: "Whether the user may be scoped to the system", answers: map[int]string{200: "The system, or nothing"}},

	"GET /v3/regions": {
		summary: "List regions", query: []parameter{{name: "parent_region_id", about: "Those below this region.", schema: isText(255)}},
		answers: map[int]string{200: "Regions"},
	},
	"HEAD /v3/regions": {
		summary: "List regions", query: []parameter{{name: "parent_region_id", about: "Those below this region.", schema: isText(255)}},
		answers: map[int]string{200: "Regions"},
	},
	"POST /v3/regions":               {summary: "Create a region", body: newRegion.schema(), answers: map[int]string{201: "The region"}, also: []int{409}},
	"GET /v3/regions/{region_id}":    {summary: "Show a region", answers: map[int]string{200: "The region"}},
	"HEAD /v3/regions/{region_id}":   {summary: "Show a region", answers: map[int]string{200: "The region"}},
	"PUT /v3/regions/{region_id}":    {summary: "Create a region by its identifier", body: newRegion.schema(), answers: map[int]string{201: "The region"}, also: []int{409}},
	"PATCH /v3/regions/{region_id}":  {summary: "Change a region", body: changedRegion.schema(), answers: map[int]string{200: "The region"}, also: []int{409}},
	"DELETE /v3/regions/{region_id}": {summary: "Delete a region and those below it", answers: map[int]string{204: "It is gone"}},

	"PATCH /v3/users/{user_id}": {
		summary: "Change a user", body: userSchema(), answers: map[int]string{200: "The user"},
		also: []int{409, 501, 503}, // 501: federated; 503: the hashing gate
	},
	"POST /v3/users/{user_id}/password": {
		summary: "Change one's own password", body: passwordChange.schema(), answers: map[int]string{204: "It is changed, and the user's tokens are revoked"}, also: []int{409},
	},
}

// userSchema adds what checkUserUpdate wants to the shape.
func userSchema() pyjson.Object {
	s := changedUser.schema()
	props, _ := s.Object("properties")
	user, _ := props.Object("user")
	fields, _ := user.Object("properties")
	fields = fields.Set("enabled", member("type", "boolean"))
	return s.Set("properties", member("user", user.Set("properties", fields)))
}

// loginSchema is the body of a login, for the methods that are served.
var loginSchema = func() pyjson.Object {
	domain := member("type", "object", "properties", member("id", isText(64), "name", isText(255)), "minProperties", 1)
	object := func(required []any, props pyjson.Object) pyjson.Object {
		o := member("type", "object", "properties", props)
		if len(required) > 0 {
			o = o.Set("required", required)
		}
		return o
	}
	user := object([]any{"password"}, member("id", isText(255), "name", isText(255), "domain", domain, "password", anyText))
	identity := object([]any{"methods"}, member(
		"methods", member("type", "array", "items", member("type", "string", "enum", []any{"password", "token"})),
		"password", object([]any{"user"}, member("user", user)),
		"token", object([]any{"id"}, member("id", anyText)),
	))
	scope := member("anyOf", []any{
		member("type", "string", "enum", []any{"unscoped"}),
		object([]any{"project"}, member("project", object(nil, member("id", isText(64), "name", isText(64), "domain", domain)))),
		object([]any{"domain"}, member("domain", domain)),
		object([]any{"system"}, member("system", object([]any{"all"}, member("all", member("type", "boolean"))))),
	})
	return object([]any{"auth"}, member("auth", object([]any{"identity"}, member("identity", identity, "scope", scope))))
}()
