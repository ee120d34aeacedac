package policy

// accessRuleRules guard access rules of application credentials.
var accessRuleRules = []Rule{
	{
		Name:        "identity:get_access_rule",
		Description: "read one access rule",
		Check:       "(role:reader and system_scope:all) or user_id:%(target.user.id)s",
		ScopeTypes:  systemProject,
		Operations: []string{
			"GET /v3/users/{user_id}/access_rules/{access_rule_id}",
			"HEAD /v3/users/{user_id}/access_rules/{access_rule_id}",
		},
	},
	{
		Name:        "identity:list_access_rules",
		Description: "list access rules",
		Check:       "(role:reader and system_scope:all) or user_id:%(target.user.id)s",
		ScopeTypes:  systemProject,
		Operations:  []string{"GET /v3/users/{user_id}/access_rules", "HEAD /v3/users/{user_id}/access_rules"},
	},
	{
		Name:        "identity:delete_access_rule",
		Description: "remove access rule",
		Check:       "(role:admin and system_scope:all) or user_id:%(target.user.id)s",
		ScopeTypes:  systemProject,
		Operations:  []string{"DELETE /v3/users/{user_id}/access_rules/{access_rule_id}"},
	},
}
