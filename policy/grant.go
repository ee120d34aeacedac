package policy

// Parts of the rules on grants: the caller's domain holds both the one who gets
// the role and where, and the role is global or of that domain.
const (
	grantReaders = "(role:reader and domain_id:%(target.user.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:reader and domain_id:%(target.user.domain_id)s and domain_id:%(target.domain.id)s) or " +
		"(role:reader and domain_id:%(target.group.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:reader and domain_id:%(target.group.domain_id)s and domain_id:%(target.domain.id)s)"
	grantAdmins = "(role:admin and domain_id:%(target.user.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:admin and domain_id:%(target.user.domain_id)s and domain_id:%(target.domain.id)s) or " +
		"(role:admin and domain_id:%(target.group.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:admin and domain_id:%(target.group.domain_id)s and domain_id:%(target.domain.id)s)"
	grantManagers = "(role:manager and domain_id:%(target.user.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:manager and domain_id:%(target.user.domain_id)s and domain_id:%(target.domain.id)s) or " +
		"(role:manager and domain_id:%(target.group.domain_id)s and domain_id:%(target.project.domain_id)s) or " +
		"(role:manager and domain_id:%(target.group.domain_id)s and domain_id:%(target.domain.id)s)"
	grantRole = "(domain_id:%(target.role.domain_id)s or None:%(target.role.domain_id)s)"
)

// grantRules guard roles on projects and domains.
var grantRules = []Rule{
	{
		Name:        "identity:check_grant",
		Description: "test a role grant",
		Check:       "(rule:admin_required) or ((role:reader and system_scope:all) or (" + grantReaders + ") and " + grantRole + ")",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"HEAD /v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
			"GET /v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
			"HEAD /v3/projects/{project_id}/groups/{group_id}/roles/{role_id}",
			"GET /v3/projects/{project_id}/groups/{group_id}/roles/{role_id}",
			"HEAD /v3/domains/{domain_id}/users/{user_id}/roles/{role_id}",
			"GET /v3/domains/{domain_id}/users/{user_id}/roles/{role_id}",
			"HEAD /v3/domains/{domain_id}/groups/{group_id}/roles/{role_id}",
			"GET /v3/domains/{domain_id}/groups/{group_id}/roles/{role_id}",
			"HEAD /v3/OS-INHERIT/projects/{project_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"GET /v3/OS-INHERIT/projects/{project_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"HEAD /v3/OS-INHERIT/projects/{project_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
			"GET /v3/OS-INHERIT/projects/{project_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
			"HEAD /v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"GET /v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"HEAD /v3/OS-INHERIT/domains/{domain_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
			"GET /v3/OS-INHERIT/domains/{domain_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
		},
	},
	{
		Name:        "identity:list_grants",
		Description: "list roles granted to an actor on a target",
		Check:       "(rule:admin_required) or ((role:reader and system_scope:all) or " + grantReaders + ")",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"GET /v3/projects/{project_id}/users/{user_id}/roles",
			"HEAD /v3/projects/{project_id}/users/{user_id}/roles",
			"GET /v3/projects/{project_id}/groups/{group_id}/roles",
			"HEAD /v3/projects/{project_id}/groups/{group_id}/roles",
			"GET /v3/domains/{domain_id}/users/{user_id}/roles",
			"HEAD /v3/domains/{domain_id}/users/{user_id}/roles",
			"GET /v3/domains/{domain_id}/groups/{group_id}/roles",
			"HEAD /v3/domains/{domain_id}/groups/{group_id}/roles",
			"GET /v3/OS-INHERIT/domains/{domain_id}/groups/{group_id}/roles/inherited_to_projects",
			"GET /v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/inherited_to_projects",
		},
	},
	{
		Name:        "identity:create_grant",
		Description: "grant a role",
		Check:       "(rule:admin_required) or (" + grantAdmins + ") and " + grantRole + " or (" + grantManagers + ") and rule:domain_managed_target_role",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"PUT /v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
			"PUT /v3/projects/{project_id}/groups/{group_id}/roles/{role_id}",
			"PUT /v3/domains/{domain_id}/users/{user_id}/roles/{role_id}",
			"PUT /v3/domains/{domain_id}/groups/{group_id}/roles/{role_id}",
			"PUT /v3/OS-INHERIT/projects/{project_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"PUT /v3/OS-INHERIT/projects/{project_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
			"PUT /v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"PUT /v3/OS-INHERIT/domains/{domain_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
		},
	},
	{
		Name:        "identity:revoke_grant",
		Description: "take a role grant back",
		Check:       "(rule:admin_required) or (" + grantAdmins + ") and " + grantRole + " or (" + grantManagers + ") and rule:domain_managed_target_role",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"DELETE /v3/projects/{project_id}/users/{user_id}/roles/{role_id}",
			"DELETE /v3/projects/{project_id}/groups/{group_id}/roles/{role_id}",
			"DELETE /v3/domains/{domain_id}/users/{user_id}/roles/{role_id}",
			"DELETE /v3/domains/{domain_id}/groups/{group_id}/roles/{role_id}",
			"DELETE /v3/OS-INHERIT/projects/{project_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"DELETE /v3/OS-INHERIT/projects/{project_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
			"DELETE /v3/OS-INHERIT/domains/{domain_id}/users/{user_id}/roles/{role_id}/inherited_to_projects",
			"DELETE /v3/OS-INHERIT/domains/{domain_id}/groups/{group_id}/roles/{role_id}/inherited_to_projects",
		},
	},
}
