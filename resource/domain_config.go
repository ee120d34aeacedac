package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Options that a domain may set for itself, by group
// (keystone/resource/core.py, DomainConfigManager).
var (
	domainOptions = map[string][]string{
		"identity": {"driver", "list_limit"},
		"ldap": {
			"url", "user", "suffix", "query_scope", "page_size", "alias_dereferencing", "debug_level", "chase_referrals",
			"user_tree_dn", "user_filter", "user_objectclass", "user_id_attribute", "user_name_attribute", "user_mail_attribute",
			"user_description_attribute", "user_pass_attribute", "user_enabled_attribute", "user_enabled_invert", "user_enabled_mask",
			"user_enabled_default", "user_attribute_ignore", "user_default_project_id_attribute", "user_enabled_emulation",
			"user_enabled_emulation_dn", "user_enabled_emulation_use_group_config", "user_additional_attribute_mapping",
			"group_tree_dn", "group_filter", "group_objectclass", "group_id_attribute", "group_name_attribute", "group_members_are_ids",
			"group_member_attribute", "group_desc_attribute", "group_attribute_ignore", "group_additional_attribute_mapping",
			"tls_cacertfile", "tls_cacertdir", "use_tls", "tls_req_cert",
			"use_pool", "pool_size", "pool_retry_max", "pool_retry_delay", "pool_connection_timeout", "pool_connection_lifetime",
			"use_auth_pool", "auth_pool_size", "auth_pool_connection_lifetime",
		},
	}
	domainSecrets = map[string][]string{"ldap": {"password"}}
	// readableRules are the options of security_compliance that everybody may
	// read of the default domain.
	readableRules = []string{"password_regex", "password_regex_description"}
)

// DomainConfigs holds the options that domains set for themselves.
type DomainConfigs struct {
	DB db.DB
	// Additional and AdditionalSecrets take the place of Keystone's own list of
	// options for the groups that they name ([domain_config]
	// additional_whitelisted_options, additional_sensitive_options).
	Additional, AdditionalSecrets map[string][]string
	// DefaultDomain is the one whose rules for passwords can be read.
	DefaultDomain string
	// Running gives the value of an option in the server's own configuration;
	// false for one that it does not have, or that is a secret.
	Running func(group, option string) (any, bool)
	// Warn, if set, is told of references that lead nowhere.
	Warn func(ctx context.Context, message string, args ...any)
}

// ConfigPath says which options are meant: all, those of a group, or one.
type ConfigPath struct{ Group, Option string }

// String is how messages name it.
func (p ConfigPath) String() string {
	switch {
	case p.Option != "":
		return fmt.Sprintf("option %s in group %s", p.Option, p.Group)
	case p.Group != "":
		return "group " + p.Group
	}
	return "any options"
}

// plain and secret are the options of a group; false for a group without.
func (c DomainConfigs) plain(group string) ([]string, bool) {
	return optionsOf(group, c.Additional, domainOptions)
}

func (c DomainConfigs) secret(group string) ([]string, bool) {
	return optionsOf(group, c.AdditionalSecrets, domainSecrets)
}

// optionsOf finds the options of a group in the first table that has it.
func optionsOf(group string, tables ...map[string][]string) ([]string, bool) {
	for _, t := range tables {
		if list, found := t[group]; found {
			return list, true
		}
	}
	return nil, false
}

// allow refuses a path to what no domain may set.
func (c DomainConfigs) allow(at ConfigPath) error {
	if at == (ConfigPath{}) {
		return nil
	}
	plain, known := c.plain(at.Group)
	secret, knownSecret := c.secret(at.Group)
	switch {
	case !known && !knownSecret:
		return invalidDomainConfig("Group %s is not supported for domain specific configurations", at.Group)
	case at.Option != "" && !slices.Contains(plain, at.Option) && !slices.Contains(secret, at.Option):
		return invalidDomainConfig("Option %s in group %s is not supported for domain specific configurations", at.Option, at.Group)
	}
	return nil
}

// checked gives the options that were sent, by group; it refuses what no domain
// may set. Python fails on the options of a text or a number in their place.
func (c DomainConfigs) checked(sent any) (pyjson.Object, error) {
	if falsy(sent) {
		return nil, invalidDomainConfig("No options specified")
	}
	groups, isObject := sent.(pyjson.Object)
	if !isObject {
		return nil, fault.Invalid("groups of options", "config")
	}
	for _, g := range groups {
		options, _ := g.Value.(pyjson.Object)
		if len(options) == 0 {
			return nil, invalidDomainConfig("The value of group %s specified in the config should be a dictionary of options", g.Key)
		}
		for _, o := range options {
			if err := c.named(ConfigPath{g.Key, o.Key}); err != nil {
				return nil, err
			}
		}
	}
	return groups, nil
}

// named is allow for names that were sent, which may be empty.
func (c DomainConfigs) named(at ConfigPath) error {
	if err := c.allow(at); err != nil || at.Group != "" && at.Option != "" {
		return err
	}
	return invalidDomainConfig("Option %s in group %s is not supported for domain specific configurations", at.Option, at.Group)
}

// falsy reports whether Python takes a value for nothing.
func falsy(v any) bool {
	switch v := v.(type) {
	case pyjson.Object:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case json.Number:
		n, _ := v.Float64()
		return n == 0
	}
	return v == nil || v == false || v == ""
}

func invalidDomainConfig(reason string, args ...any) error {
	return fault.New(fault.Forbidden, "Invalid domain specific configuration: %s.", fmt.Sprintf(reason, args...))
}

func noDomainConfig(domainID string, at ConfigPath) error {
	return fault.New(fault.NotFound, "Could not find %s in domain configuration for domain %s.", at, domainID)
}
