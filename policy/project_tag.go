package policy

// projectTagRules guard tags of projects.
var projectTagRules = []Rule{
	{
		Name:        "identity:list_project_tags",
		Description: "list project tags",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s) or project_id:%(target.project.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_required or project_id:%(target.project.id)s", Since: train},
		Operations:  []string{"GET /v3/projects/{project_id}/tags", "HEAD /v3/projects/{project_id}/tags"},
	},
	{
		Name:        "identity:get_project_tag",
		Description: "read one project tag",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s) or project_id:%(target.project.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_required or project_id:%(target.project.id)s", Since: train},
		Operations:  []string{"GET /v3/projects/{project_id}/tags/{value}", "HEAD /v3/projects/{project_id}/tags/{value}"},
	},
	{
		Name:        "identity:update_project_tags",
		Description: "change project tags",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PUT /v3/projects/{project_id}/tags"},
	},
	{
		Name:        "identity:create_project_tag",
		Description: "make project tag",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PUT /v3/projects/{project_id}/tags/{value}"},
	},
	{
		Name:        "identity:delete_project_tags",
		Description: "remove project tags",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/projects/{project_id}/tags"},
	},
	{
		Name:        "identity:delete_project_tag",
		Description: "remove project tag",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/projects/{project_id}/tags/{value}"},
	},
}
