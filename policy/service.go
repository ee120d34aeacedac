package policy

// serviceRules guard services.
var serviceRules = []Rule{
	{
		Name:        "identity:get_service",
		Description: "read one service",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/services/{service_id}"},
	},
	{
		Name:        "identity:list_services",
		Description: "list services",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/services"},
	},
	{
		Name:        "identity:create_service",
		Description: "make service",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/services"},
	},
	{
		Name:        "identity:update_service",
		Description: "change service",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/services/{service_id}"},
	},
	{
		Name:        "identity:delete_service",
		Description: "remove service",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/services/{service_id}"},
	},
}
