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

	"PATCH /v3/users/{user_id}": {
		summary: "Change a user", body: changedUser.schema(), answers: map[int]string{200: "The user"},
		also: []int{409, 501, 503}, // 501: federated; 503: the hashing gate
	},
	"GET /v3/users/{user_id}/lockout":    {summary: "Whether failed logins have locked an account", answers: map[int]string{200: "How it stands"}},
	"HEAD /v3/users/{user_id}/lockout":   {summary: "Whether failed logins have locked an account", answers: map[int]string{200: "There is such an account"}},
	"DELETE /v3/users/{user_id}/lockout": {summary: "Unlock an account", answers: map[int]string{204: "It is unlocked, or never was locked"}},
	"GET /v3/keystone-go/lockouts":       {summary: "List the accounts that failed logins have locked", answers: map[int]string{200: "Accounts, the latest first"}},
	"HEAD /v3/keystone-go/lockouts":      {summary: "List the accounts that failed logins have locked", answers: map[int]string{200: "Accounts, the latest first"}},
	"GET /v3/keystone-go/ratelimit":      {summary: "Show the rate limits, and how a caller stands with them", query: append(subjectQuery, topQuery), answers: map[int]string{200: "Limiters with their largest debts"}},
	"HEAD /v3/keystone-go/ratelimit":     {summary: "Show the rate limits, and how a caller stands with them", query: append(subjectQuery, topQuery), answers: map[int]string{200: "Limiters with their largest debts"}},
	"DELETE /v3/keystone-go/ratelimit":   {summary: "Give a user or an address its quota back", query: subjectQuery, answers: map[int]string{200: "The limiters that have forgotten what it owed"}},

	"PUT /v3/domains/{domain_id}/config": {
		summary: "Set all options of a domain", body: configSchema(optionsSchema),
		answers: map[int]string{200: "Those that may be read", 201: "The same, where none were set before"}, also: []int{409},
	},
	"PATCH /v3/domains/{domain_id}/config":                  changedConfig("all options", optionsSchema),
	"PATCH /v3/domains/{domain_id}/config/{group}":          changedConfig("a group of options", optionsSchema),
	"PATCH /v3/domains/{domain_id}/config/{group}/{option}": changedConfig("an option", pyjson.Object{}),

	"POST /v3/users/{user_id}/password": {
		summary: "Change one's own password", body: passwordChange.schema(), answers: map[int]string{204: "It is changed, and the user's tokens are revoked"}, also: []int{409},
	},
}

// subjectQuery names a caller of whom the limits know something.
var (
	subjectQuery = []parameter{
		{name: "user_id", about: "A user, by identifier.", schema: isText(255)},
		{name: "name", about: "A user, by name in the domain of domain_id.", schema: isText(255)},
		{name: "domain_id", about: "The domain of the name.", schema: isText(64)},
		{name: "address", about: "A client address; with a user, what the two owe together.", schema: isText(64)},
	}
	topQuery = parameter{name: "top", about: "How many debts to show of each limiter, 0 to 1000.", schema: member("type", "integer")}
)

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

// optionsSchema is a group of a domain's options.
var optionsSchema = member("type", "object", "minProperties", 1)

// configSchema is the body with a domain's options: groups of them, or
// options with their values.
func configSchema(each pyjson.Object) pyjson.Object {
	inner := member("type", "object", "minProperties", 1, "additionalProperties", each)
	return member("type", "object", "required", []any{"config"}, "properties", member("config", inner))
}

func changedConfig(what string, each pyjson.Object) described {
	return described{
		summary: "Change " + what + " of a domain", body: configSchema(each),
		answers: map[int]string{200: "All options of the domain that may be read"}, also: []int{409},
	}
}
