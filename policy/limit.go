package policy

// limitRules guard limits.
var limitRules = []Rule{
	{
		Name:        "identity:get_limit_model",
		Description: "name of the limit enforcement model",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/limits/model", "HEAD /v3/limits/model"},
	},
	{
		Name:        "identity:get_limit",
		Description: "read one limit",
		Check:       "rule:admin_required or (role:reader and system_scope:all) or (domain_id:%(target.limit.domain.id)s or domain_id:%(target.limit.project.domain_id)s) or (project_id:%(target.limit.project_id)s and not None:%(target.limit.project_id)s)",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/limits/{limit_id}", "HEAD /v3/limits/{limit_id}"},
	},
	{
		Name:        "identity:list_limits",
		Description: "list limits",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations:  []string{"GET /v3/limits", "HEAD /v3/limits"},
	},
	{
		Name:        "identity:create_limits",
		Description: "make limits",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"POST /v3/limits"},
	},
	{
		Name:        "identity:update_limit",
		Description: "change limit",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"PATCH /v3/limits/{limit_id}"},
	},
	{
		Name:        "identity:delete_limit",
		Description: "remove limit",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"DELETE /v3/limits/{limit_id}"},
	},
}
