package policy

// serviceProviderRules guard service providers of federation.
var serviceProviderRules = []Rule{
	{
		Name:        "identity:create_service_provider",
		Description: "make service provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/OS-FEDERATION/service_providers/{service_provider_id}"},
	},
	{
		Name:        "identity:list_service_providers",
		Description: "list service providers",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/service_providers", "HEAD /v3/OS-FEDERATION/service_providers"},
	},
	{
		Name:        "identity:get_service_provider",
		Description: "read one service provider",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations: []string{
			"GET /v3/OS-FEDERATION/service_providers/{service_provider_id}",
			"HEAD /v3/OS-FEDERATION/service_providers/{service_provider_id}",
		},
	},
	{
		Name:        "identity:update_service_provider",
		Description: "change service provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/OS-FEDERATION/service_providers/{service_provider_id}"},
	},
	{
		Name:        "identity:delete_service_provider",
		Description: "remove service provider",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/OS-FEDERATION/service_providers/{service_provider_id}"},
	},
}
