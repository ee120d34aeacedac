package policy

// impliedRoleRules guard roles that imply others.
var impliedRoleRules = []Rule{
	{
		Name:        "identity:get_implied_role",
		Description: "read one implied role",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/roles/{prior_role_id}/implies/{implied_role_id}"},
	},
	{
		Name:        "identity:list_implied_roles",
		Description: "list implied roles",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/roles/{prior_role_id}/implies", "HEAD /v3/roles/{prior_role_id}/implies"},
	},
	{
		Name:        "identity:create_implied_role",
		Description: "make implied role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PUT /v3/roles/{prior_role_id}/implies/{implied_role_id}"},
	},
	{
		Name:        "identity:delete_implied_role",
		Description: "remove implied role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/roles/{prior_role_id}/implies/{implied_role_id}"},
	},
	{
		Name:        "identity:list_role_inference_rules",
		Description: "list all implied-role rules",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/role_inferences", "HEAD /v3/role_inferences"},
	},
	{
		Name:        "identity:check_implied_role",
		Description: "test implied role",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"HEAD /v3/roles/{prior_role_id}/implies/{implied_role_id}"},
	},
}
