package policy

// domainConfigRules guard configuration of domains.
var domainConfigRules = []Rule{
	{
		Name:        "identity:create_domain_config",
		Description: "make domain config",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PUT /v3/domains/{domain_id}/config"},
	},
	{
		Name:        "identity:get_domain_config",
		Description: "read one domain config",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations: []string{
			"GET /v3/domains/{domain_id}/config",
			"HEAD /v3/domains/{domain_id}/config",
			"GET /v3/domains/{domain_id}/config/{group}",
			"HEAD /v3/domains/{domain_id}/config/{group}",
			"GET /v3/domains/{domain_id}/config/{group}/{option}",
			"HEAD /v3/domains/{domain_id}/config/{group}/{option}",
		},
	},
	{
		Name:        "identity:get_security_compliance_domain_config",
		Description: "read password rules of the default domain",
		Check:       "",
		ScopeTypes:  anyScope,
		Operations: []string{
			"GET /v3/domains/{domain_id}/config/security_compliance",
			"HEAD /v3/domains/{domain_id}/config/security_compliance",
			"GET /v3/domains/{domain_id}/config/security_compliance/{option}",
			"HEAD /v3/domains/{domain_id}/config/security_compliance/{option}",
		},
	},
	{
		Name:        "identity:update_domain_config",
		Description: "change domain config",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations: []string{
			"PATCH /v3/domains/{domain_id}/config",
			"PATCH /v3/domains/{domain_id}/config/{group}",
			"PATCH /v3/domains/{domain_id}/config/{group}/{option}",
		},
	},
	{
		Name:        "identity:delete_domain_config",
		Description: "remove domain config",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations: []string{
			"DELETE /v3/domains/{domain_id}/config",
			"DELETE /v3/domains/{domain_id}/config/{group}",
			"DELETE /v3/domains/{domain_id}/config/{group}/{option}",
		},
	},
	{
		Name:        "identity:get_domain_config_default",
		Description: "defaults for domain config",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations: []string{
			"GET /v3/domains/config/default",
			"HEAD /v3/domains/config/default",
			"GET /v3/domains/config/{group}/default",
			"HEAD /v3/domains/config/{group}/default",
			"GET /v3/domains/config/{group}/{option}/default",
			"HEAD /v3/domains/config/{group}/{option}/default",
		},
	},
}
