package policy

// userRules guard users.
var userRules = []Rule{
	{
		Name:        "identity:get_user",
		Description: "read one user",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and token.domain.id:%(target.user.domain_id)s) or user_id:%(target.user.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: stein},
		Operations:  []string{"GET /v3/users/{user_id}", "HEAD /v3/users/{user_id}"},
	},
	{
		Name:        "identity:list_users",
		Description: "list users",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/users", "HEAD /v3/users"},
	},
	{
		Name:        "identity:list_projects_for_user",
		Description: "unused twin of get_auth_projects",
		Check:       "",
		Operations:  []string{"GET /v3/auth/projects"},
	},
	{
		Name:        "identity:list_domains_for_user",
		Description: "unused twin of get_auth_domains",
		Check:       "",
		Operations:  []string{"GET /v3/auth/domains"},
	},
	{
		Name:        "identity:create_user",
		Description: "make user",
		Check:       "(rule:admin_required) or (role:manager and token.domain.id:%(target.user.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/users"},
	},
	{
		Name:        "identity:update_user",
		Description: "change user",
		Check:       "(rule:admin_required) or (role:manager and token.domain.id:%(target.user.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/users/{user_id}"},
	},
	{
		Name:        "identity:delete_user",
		Description: "remove user",
		Check:       "(rule:admin_required) or (role:manager and token.domain.id:%(target.user.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/users/{user_id}"},
	},
	{
		Name:        "identity:revoke_tokens_for_user",
		Description: "revoke all tokens of a user",
		Check:       adminOrOwner,
		ScopeTypes:  anyScope,
		Operations:  []string{"DELETE /v3/users/{user_id}/tokens"},
	},
}
