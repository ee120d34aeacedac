package policy

// projectEndpointRules guard endpoints that projects see.
var projectEndpointRules = []Rule{
	{
		Name:        "identity:list_projects_for_endpoint",
		Description: "list projects for endpoint",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/OS-EP-FILTER/endpoints/{endpoint_id}/projects"},
	},
	{
		Name:        "identity:add_endpoint_to_project",
		Description: "put endpoint to project",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PUT /v3/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}"},
	},
	{
		Name:        "identity:check_endpoint_in_project",
		Description: "test endpoint in project",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations: []string{
			"GET /v3/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}",
			"HEAD /v3/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}",
		},
	},
	{
		Name:        "identity:list_endpoints_for_project",
		Description: "list endpoints for project",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/OS-EP-FILTER/projects/{project_id}/endpoints"},
	},
	{
		Name:        "identity:remove_endpoint_from_project",
		Description: "take endpoint from project",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}"},
	},
}
