package policy

import "github.com/keystone-go/keystone-go/internal/pyjson"

// Target is what a rule may look at beside the credentials: flat, with dotted
// keys such as "user_id", "target.user.domain_id" or "request_body.user.name".
// Numbers of a JSON body belong in it as json.Number, so that 5 stays "5".
type Target map[string]any

// Add puts an object under a prefix, nested objects flattened with dots and
// lists left as they are. The prefix keeps input apart from trusted keys.
func (t Target) Add(prefix string, object map[string]any) {
	for name, value := range object {
		key := prefix + "." + name
		if inner, ok := value.(map[string]any); ok {
			t.Add(key, inner)
			continue
		}
		t[key] = value
	}
}

// AddObject is Add for what was read from JSON: AddObject("request_body", body).
func (t Target) AddObject(prefix string, object pyjson.Object) {
	t.Add(prefix, plain(object).(map[string]any))
}

// plain makes maps of objects and texts of pointers to them, wherever they are.
func plain(value any) any {
	switch v := value.(type) {
	case pyjson.Object:
		m := make(map[string]any, len(v))
		for _, member := range v {
			m[member.Key] = plain(member.Value)
		}
		return m
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	}
	return value
}

// Credentials are what a rule may know of the caller, in the names of
// oslo.context: user_id, project_id, domain_id (there, and nil, without a
// domain scope), system_scope, roles as []string, token as the token's body: a
// map, or a rules.Fields that works its parts out when asked.
type Credentials map[string]any

// AdminToken is the key whose value true marks the caller with the admin_token
// of the configuration: everything is allowed to it. Rules cannot see it.
const AdminToken = "is_admin_token"

// scope is the kind of scope as oslo.policy finds it: an unscoped token counts
// as one for a project.
func (c Credentials) scope() string {
	switch {
	case truthy(c["system_scope"]), truthy(c["system"]):
		return "system"
	case truthy(c["domain_id"]):
		return "domain"
	}
	return "project"
}

func truthy(value any) bool {
	return value != nil && value != "" && value != false
}
