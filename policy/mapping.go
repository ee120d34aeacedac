package policy

// mappingRules guard federation mappings.
var mappingRules = []Rule{
	{
		Name:        "identity:create_mapping",
		Description: "make mapping",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/OS-FEDERATION/mappings/{mapping_id}"},
	},
	{
		Name:        "identity:get_mapping",
		Description: "read one mapping",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/mappings/{mapping_id}", "HEAD /v3/OS-FEDERATION/mappings/{mapping_id}"},
	},
	{
		Name:        "identity:list_mappings",
		Description: "list mappings",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/mappings", "HEAD /v3/OS-FEDERATION/mappings"},
	},
	{
		Name:        "identity:delete_mapping",
		Description: "remove mapping",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/OS-FEDERATION/mappings/{mapping_id}"},
	},
	{
		Name:        "identity:update_mapping",
		Description: "change mapping",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/OS-FEDERATION/mappings/{mapping_id}"},
	},
}
