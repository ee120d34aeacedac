package policy

// policyRules guard policy blobs that Keystone stores for others.
var policyRules = []Rule{
	{
		Name:        "identity:get_policy",
		Description: "read one policy",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/policies/{policy_id}"},
	},
	{
		Name:        "identity:list_policies",
		Description: "list policies",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/policies"},
	},
	{
		Name:        "identity:create_policy",
		Description: "make policy",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"POST /v3/policies"},
	},
	{
		Name:        "identity:update_policy",
		Description: "change policy",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PATCH /v3/policies/{policy_id}"},
	},
	{
		Name:        "identity:delete_policy",
		Description: "remove policy",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/policies/{policy_id}"},
	},
}
