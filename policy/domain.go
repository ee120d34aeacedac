package policy

// domainRules guard domains.
var domainRules = []Rule{
	{
		Name:        "identity:get_domain",
		Description: "read one domain",
		Check:       "rule:admin_required or (role:reader and system_scope:all) or token.domain.id:%(target.domain.id)s or token.project.domain.id:%(target.domain.id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_required or token.project.domain.id:%(target.domain.id)s", Since: stein},
		Operations:  []string{"GET /v3/domains/{domain_id}"},
	},
	{
		Name:        "identity:list_domains",
		Description: "list domains",
		Check:       "rule:admin_required or (role:reader and system_scope:all) or (role:reader and domain_id:%(target.domain.id)s)",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/domains"},
	},
	{
		Name:        "identity:create_domain",
		Description: "make domain",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/domains"},
	},
	{
		Name:        "identity:update_domain",
		Description: "change domain",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/domains/{domain_id}"},
	},
	{
		Name:        "identity:delete_domain",
		Description: "remove domain",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/domains/{domain_id}"},
	},
}
