package v3

import (
	"regexp"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// passwordChange is schema identity.password_change.
var passwordChange = shape{key: "user", alone: true, strict: true, fields: []field{
	{name: "original_password", required: true},
	{name: "password", required: true},
}}

// changedUser is schema identity.user_update_request, but for what
// checkUserUpdate adds.
var changedUser = shape{key: "user", alone: true, least: 1, fields: []field{
	{name: "default_project_id", nullable: true},
	{name: "description", nullable: true},
	{name: "domain_id", min: 1, max: 64},
	{name: "federated", kind: array},
	{name: "name", min: 1, max: 255},
	{name: "options", kind: object},
	{name: "password", nullable: true},
}}

var domainIDForm = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

func checkUserUpdate(c *Call) error {
	if err := changedUser.check(c); err != nil {
		return err
	}
	user, _ := c.JSON().Object("user")
	for _, m := range user {
		switch m.Key {
		case "domain_id":
			if !domainIDForm.MatchString(m.Value.(string)) {
				return invalid("field/attribute domain_id does not match %s", domainIDForm)
			}
		case "name":
			if strings.TrimSpace(m.Value.(string)) == "" {
				return invalid("field/attribute name is blank")
			}
		case "enabled":
			if !isLooseBool(m.Value) {
				return invalid("field/attribute enabled is not of type boolean")
			}
		case "federated":
			if err := checkFederated(m.Value.([]any)); err != nil {
				return err
			}
		case "options":
			if err := checkUserOptions(m.Value.(pyjson.Object)); err != nil {
				return err
			}
		}
	}
	return nil
}

var looseTrue = []any{true, "True", "TRUE", "true", "1", "ON", "On", "on", "YES", "Yes", "yes", "Y", "y", "T", "t"}

var looseFalse = []any{false, "False", "FALSE", "false", "0", "OFF", "Off", "off", "NO", "No", "no", "N", "n", "F", "f"}

func looseBool(v any) bool { return slices.Contains(looseTrue, v) }

func isLooseBool(v any) bool {
	switch v.(type) {
	case bool, string:
		return slices.Contains(looseTrue, v) || slices.Contains(looseFalse, v)
	}
	return false
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
