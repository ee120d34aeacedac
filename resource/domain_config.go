package resource

import (
	"context"
	"fmt"
	"maps"
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
)

// DomainOptions are options that one domain sets for itself: values that JSON
// can hold, by group and name.
type DomainOptions map[string]map[string]any

// DomainConfigs holds the options that domains set for themselves.
type DomainConfigs struct {
	DB db.DB
	// Additional and AdditionalSecrets take the place of Keystone's own list of
	// options for the groups that they name ([domain_config]
	// additional_whitelisted_options, additional_sensitive_options).
	Additional, AdditionalSecrets map[string][]string
}

// Has reports whether a domain has set any option.
func (c DomainConfigs) Has(ctx context.Context, domainID string) (bool, error) {
	n, err := db.One(ctx, c.DB, db.Query[int]{
		Text: `select (select count(*) from whitelisted_config where domain_id = $1) + (select count(*) from sensitive_config where domain_id = $1)`,
		Args: []any{domainID},
		Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err },
	})
	return n > 0, err
}

// Set stores options in the place of all that the domain had; those that no
// domain may set are refused, and nothing is changed.
func (c DomainConfigs) Set(ctx context.Context, domainID string, options DomainOptions) error {
	if len(options) == 0 {
		return invalidDomainConfig("No options specified")
	}
	var b db.Batch
	for _, table := range []string{"whitelisted_config", "sensitive_config"} {
		b.Exec(`delete from `+table+` where domain_id = $1`, domainID)
	}
	for _, group := range slices.Sorted(maps.Keys(options)) {
		if len(options[group]) == 0 {
			return invalidDomainConfig("The value of group %s specified in the config should be a dictionary of options", group)
		}
		for _, option := range slices.Sorted(maps.Keys(options[group])) {
			table, err := c.table(group, option)
			if err != nil {
				return err
			}
			b.Exec(`insert into `+table+` (domain_id, "group", "option", value) values ($1, $2, $3, $4)`,
				domainID, group, option, pyjson.Encode(options[group][option]))
		}
	}
	if err := c.DB.Send(ctx, &b); err != nil {
		return fmt.Errorf("store the configuration of domain %s: %w", domainID, err)
	}
	return nil
}

// table is where an option is kept: secrets stand apart, so that no list shows
// them.
func (c DomainConfigs) table(group, option string) (string, error) {
	plain, secrets := maps.Clone(domainOptions), maps.Clone(domainSecrets)
	maps.Copy(plain, c.Additional)
	maps.Copy(secrets, c.AdditionalSecrets)
	switch {
	case slices.Contains(secrets[group], option):
		return "sensitive_config", nil
	case slices.Contains(plain[group], option):
		return "whitelisted_config", nil
	case plain[group] == nil && secrets[group] == nil:
		return "", invalidDomainConfig("Group %s is not supported for domain specific configurations", group)
	}
	return "", invalidDomainConfig("Option %[2]s in group %[1]s is not supported for domain specific configurations", group, option)
}

func invalidDomainConfig(reason string, args ...any) error {
	return fault.New(fault.Forbidden, "Invalid domain specific configuration: %s.", fmt.Sprintf(reason, args...))
}
