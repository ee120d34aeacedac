package policy

// systemGrantRules guard roles on the system.
var systemGrantRules = []Rule{
	{
		Name:        "identity:list_system_grants_for_user",
		Description: "list system grants for user",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/system/users/{user_id}/roles", "HEAD /v3/system/users/{user_id}/roles"},
	},
	{
		Name:        "identity:check_system_grant_for_user",
		Description: "test system grant for user",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/system/users/{user_id}/roles/{role_id}", "HEAD /v3/system/users/{user_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:create_system_grant_for_user",
		Description: "make system grant for user",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/system/users/{user_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:revoke_system_grant_for_user",
		Description: "take back system grant for user",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/system/users/{user_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:list_system_grants_for_group",
		Description: "list system grants for group",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/system/groups/{group_id}/roles", "HEAD /v3/system/groups/{group_id}/roles"},
	},
	{
		Name:        "identity:check_system_grant_for_group",
		Description: "test system grant for group",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/system/groups/{group_id}/roles/{role_id}", "HEAD /v3/system/groups/{group_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:create_system_grant_for_group",
		Description: "make system grant for group",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/system/groups/{group_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:revoke_system_grant_for_group",
		Description: "take back system grant for group",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/system/groups/{group_id}/roles/{role_id}"},
	},
}
