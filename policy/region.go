package policy

// regionRules guard regions.
var regionRules = []Rule{
	{
		Name:        "identity:get_region",
		Description: "read one region",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/regions/{region_id}", "HEAD /v3/regions/{region_id}"},
	},
	{
		Name:        "identity:list_regions",
		Description: "list regions",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/regions", "HEAD /v3/regions"},
	},
	{
		Name:        "identity:create_region",
		Description: "make region",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/regions", "PUT /v3/regions/{region_id}"},
	},
	{
		Name:        "identity:update_region",
		Description: "change region",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/regions/{region_id}"},
	},
	{
		Name:        "identity:delete_region",
		Description: "remove region",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/regions/{region_id}"},
	},
}
