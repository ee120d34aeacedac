package policy

// protocolRules guard federation protocols.
var protocolRules = []Rule{
	{
		Name:        "identity:create_protocol",
		Description: "make protocol",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PUT /v3/OS-FEDERATION/identity_providers/{idp_id}/protocols/{protocol_id}"},
	},
	{
		Name:        "identity:update_protocol",
		Description: "change protocol",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/OS-FEDERATION/identity_providers/{idp_id}/protocols/{protocol_id}"},
	},
	{
		Name:        "identity:get_protocol",
		Description: "read one protocol",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/identity_providers/{idp_id}/protocols/{protocol_id}"},
	},
	{
		Name:        "identity:list_protocols",
		Description: "list protocols",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/OS-FEDERATION/identity_providers/{idp_id}/protocols"},
	},
	{
		Name:        "identity:delete_protocol",
		Description: "remove protocol",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/OS-FEDERATION/identity_providers/{idp_id}/protocols/{protocol_id}"},
	},
}
