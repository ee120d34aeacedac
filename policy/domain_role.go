package policy

// domainRoleRules guard roles that belong to one domain.
var domainRoleRules = []Rule{
	{
		Name:        "identity:get_domain_role",
		Description: "read one domain role",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/roles/{role_id}", "HEAD /v3/roles/{role_id}"},
	},
	{
		Name:        "identity:list_domain_roles",
		Description: "list roles of one domain",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/roles?domain_id={domain_id}", "HEAD /v3/roles?domain_id={domain_id}"},
	},
	{
		Name:        "identity:create_domain_role",
		Description: "make domain role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"POST /v3/roles"},
	},
	{
		Name:        "identity:update_domain_role",
		Description: "change domain role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PATCH /v3/roles/{role_id}"},
	},
	{
		Name:        "identity:delete_domain_role",
		Description: "remove domain role",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/roles/{role_id}"},
	},
}
