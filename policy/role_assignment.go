package policy

// roleAssignmentRules guard lists of role assignments.
var roleAssignmentRules = []Rule{
	{
		Name:        "identity:list_role_assignments",
		Description: "list role assignments",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.domain_id)s and not None:%(target.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/role_assignments", "HEAD /v3/role_assignments"},
	},
	{
		Name:        "identity:list_role_assignments_for_tree",
		Description: "list assignments of a project subtree",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.domain_id)s and not None:%(target.domain_id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/role_assignments?include_subtree", "HEAD /v3/role_assignments?include_subtree"},
	},
}
