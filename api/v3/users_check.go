package v3

import (
	"slices"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// passwordChange is schema identity.password_change.
var passwordChange = shape{key: "user", alone: true, strict: true, fields: []field{
	{name: "original_password", required: true},
	{name: "password", required: true},
}}

// changedUser and newUser are schemas identity.user_update_request and
// user_create_request, but for what checkUser adds.
var (
	userFields = []field{
		{name: "default_project_id", nullable: true},
		{name: "description", nullable: true},
		{name: "domain_id", min: 1, max: 64, pattern: idText},
		{name: "enabled", kind: loose},
		{name: "federated", kind: array},
		{name: "options", kind: object},
		{name: "password", nullable: true},
	}
	changedUser = shape{key: "user", alone: true, least: 1, fields: append([]field{{name: "name", min: 1, max: 255, pattern: notBlank}}, userFields...)}
	newUser     = shape{key: "user", alone: true, fields: append([]field{{name: "name", required: true, min: 1, max: 255, pattern: notBlank}}, userFields...)}
)

// checkUser looks at what the schemas cannot say.
func checkUser(c *Call) error {
	user := c.sent("user")
	if v, given := user.Get("federated"); given {
		if err := checkFederated(v.([]any)); err != nil {
			return err
		}
	}
	if o, given := user.Object("options"); given {
		return checkUserOptions(o)
	}
	return nil
}

// checkFederated wants objects with the id of an identity provider and at
// least one protocol, each with its id and what is unique of the user in it.
func checkFederated(providers []any) error {
	for _, v := range providers {
		provider, _ := v.(pyjson.Object)
		_, hasID := provider.String("idp_id")
		all, _ := provider.Get("protocols")
		protocols, _ := all.([]any)
		if !hasID || len(protocols) == 0 {
			return invalid("each of federated must be an object with idp_id and protocols")
		}
		for _, v := range protocols {
			protocol, _ := v.(pyjson.Object)
			_, hasID := protocol.String("protocol_id")
			_, isUnique := protocol.String("unique_id")
			if !hasID || !isUnique {
				return invalid("each of protocols must be an object with protocol_id and unique_id")
			}
		}
	}
	return nil
}

func checkUserOptions(options pyjson.Object) error {
	for _, m := range options {
		id, known := identity.OptionID(m.Key)
		if !known {
			return invalid("additional option %q is not allowed", m.Key)
		}
		if m.Value == nil {
			continue
		}
		if id == identity.OptionMFARules {
			if err := checkMFARules(m.Value); err != nil {
				return err
			}
			continue
		}
		if _, ok := m.Value.(bool); !ok {
			return invalid("option %s is not of type boolean", m.Key)
		}
	}
	return nil
}

// checkMFARules wants a list of distinct, non-empty lists of distinct strings.
func checkMFARules(v any) error {
	rules, ok := v.([]any)
	if !ok {
		return invalid("option multi_factor_auth_rules is not of type array")
	}
	var seen []string
	for _, r := range rules {
		rule, ok := r.([]any)
		if !ok || len(rule) == 0 {
			return invalid("each rule of multi_factor_auth_rules must be a list that is not empty")
		}
		var names []string
		for _, m := range rule {
			name, ok := m.(string)
			if !ok || slices.Contains(names, name) {
				return invalid("each rule of multi_factor_auth_rules must list different names of methods")
			}
			names = append(names, name)
		}
		text := pyjson.Encode(rule)
		if slices.Contains(seen, text) {
			return invalid("the rules of multi_factor_auth_rules must differ")
		}
		seen = append(seen, text)
	}
	return nil
}
