package policy

// endpointRules guard endpoints.
var endpointRules = []Rule{
	{
		Name:        "identity:get_endpoint",
		Description: "read one endpoint",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/endpoints/{endpoint_id}"},
	},
	{
		Name:        "identity:list_endpoints",
		Description: "list endpoints",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/endpoints"},
	},
	{
		Name:        "identity:create_endpoint",
		Description: "make endpoint",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/endpoints"},
	},
	{
		Name:        "identity:update_endpoint",
		Description: "change endpoint",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/endpoints/{endpoint_id}"},
	},
	{
		Name:        "identity:delete_endpoint",
		Description: "remove endpoint",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/endpoints/{endpoint_id}"},
	},
}
