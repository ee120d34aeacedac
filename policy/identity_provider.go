package policy

// identityProviderRules guard identity providers.
var identityProviderRules = []Rule{
	{
		Name:        "identity:create_identity_provider",
		Description: "make identity provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/OS-FEDERATION/identity_providers/{idp_id}"},
	},
	{
		Name:        "identity:list_identity_providers",
		Description: "list identity providers",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/identity_providers", "HEAD /v3/OS-FEDERATION/identity_providers"},
	},
	{
		Name:        "identity:get_identity_provider",
		Description: "read one identity provider",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"GET /v3/OS-FEDERATION/identity_providers/{idp_id}",
			"HEAD /v3/OS-FEDERATION/identity_providers/{idp_id}",
		},
	},
	{
		Name:        "identity:update_identity_provider",
		Description: "change identity provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/OS-FEDERATION/identity_providers/{idp_id}"},
	},
	{
		Name:        "identity:delete_identity_provider",
		Description: "remove identity provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/OS-FEDERATION/identity_providers/{idp_id}"},
	},
}
