package policy

// registeredLimitRules guard registered limits.
var registeredLimitRules = []Rule{
	{
		Name:        "identity:get_registered_limit",
		Description: "read one registered limit",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/registered_limits/{registered_limit_id}", "HEAD /v3/registered_limits/{registered_limit_id}"},
	},
	{
		Name:        "identity:list_registered_limits",
		Description: "list registered limits",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/registered_limits", "HEAD /v3/registered_limits"},
	},
	{
		Name:        "identity:create_registered_limits",
		Description: "make registered limits",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"POST /v3/registered_limits"},
	},
	{
		Name:        "identity:update_registered_limit",
		Description: "change registered limit",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"PATCH /v3/registered_limits/{registered_limit_id}"},
	},
	{
		Name:        "identity:delete_registered_limit",
		Description: "remove registered limit",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"DELETE /v3/registered_limits/{registered_limit_id}"},
	},
}
