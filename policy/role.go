package policy

// roleRules guard roles.
var roleRules = []Rule{
	{
		Name:        "identity:get_role",
		Description: "read one role",
		Check:       "(rule:admin_required or (role:reader and system_scope:all)) or (role:manager and rule:domain_managed_target_role)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/roles/{role_id}", "HEAD /v3/roles/{role_id}"},
	},
	{
		Name:        "identity:list_roles",
		Description: "list roles",
		Check:       "(rule:admin_required or (role:reader and system_scope:all)) or (role:manager and not domain_id:None)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/roles", "HEAD /v3/roles"},
	},
	{
		Name:        "identity:create_role",
		Description: "make role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/roles"},
	},
	{
		Name:        "identity:update_role",
		Description: "change role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/roles/{role_id}"},
	},
	{
		Name:        "identity:delete_role",
		Description: "remove role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/roles/{role_id}"},
	},
}
