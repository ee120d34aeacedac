package policy

// projectRules guard projects.
var projectRules = []Rule{
	{
		Name:        "identity:get_project",
		Description: "read one project",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s) or project_id:%(target.project.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_required or project_id:%(target.project.id)s", Since: stein},
		Operations:  []string{"GET /v3/projects/{project_id}"},
	},
	{
		Name:        "identity:list_projects",
		Description: "list projects",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/projects"},
	},
	{
		Name:        "identity:list_user_projects",
		Description: "projects where a user has roles",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.user.domain_id)s) or user_id:%(target.user.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: stein},
		Operations:  []string{"GET /v3/users/{user_id}/projects"},
	},
	{
		Name:        "identity:create_project",
		Description: "make project",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/projects"},
	},
	{
		Name:        "identity:update_project",
		Description: "change project",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/projects/{project_id}"},
	},
	{
		Name:        "identity:delete_project",
		Description: "remove project",
		Check:       "(rule:admin_required) or (role:manager and domain_id:%(target.project.domain_id)s and not None:%(target.project.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/projects/{project_id}"},
	},
}
