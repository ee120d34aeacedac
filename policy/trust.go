package policy

// trustRules guard trusts.
var trustRules = []Rule{
	{
		Name:        "identity:create_trust",
		Description: "make trust",
		Check:       "user_id:%(target.trust.trustor_user_id)s",
		ScopeTypes:  projectOnly,
		Operations:  []string{"POST /v3/OS-TRUST/trusts"},
	},
	{
		Name:        "identity:list_trusts",
		Description: "list trusts",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/OS-TRUST/trusts", "HEAD /v3/OS-TRUST/trusts"},
	},
	{
		Name:        "identity:list_trusts_for_trustor",
		Description: "list trusts one gave",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all or user_id:%(target.trust.trustor_user_id)s)",
		ScopeTypes:  systemProject,
		Operations: []string{
			"GET /v3/OS-TRUST/trusts?trustor_user_id={trustor_user_id}",
			"HEAD /v3/OS-TRUST/trusts?trustor_user_id={trustor_user_id}",
		},
	},
	{
		Name:        "identity:list_trusts_for_trustee",
		Description: "list trusts one received",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all or user_id:%(target.trust.trustee_user_id)s)",
		ScopeTypes:  systemProject,
		Operations: []string{
			"GET /v3/OS-TRUST/trusts?trustee_user_id={trustee_user_id}",
			"HEAD /v3/OS-TRUST/trusts?trustee_user_id={trustee_user_id}",
		},
	},
	{
		Name:        "identity:list_roles_for_trust",
		Description: "list roles for trust",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all or user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s)",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s", Since: train},
		Operations:  []string{"GET /v3/OS-TRUST/trusts/{trust_id}/roles", "HEAD /v3/OS-TRUST/trusts/{trust_id}/roles"},
	},
	{
		Name:        "identity:get_role_for_trust",
		Description: "read one role for trust",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all or user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s)",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s", Since: train},
		Operations: []string{
			"GET /v3/OS-TRUST/trusts/{trust_id}/roles/{role_id}",
			"HEAD /v3/OS-TRUST/trusts/{trust_id}/roles/{role_id}",
		},
	},
	{
		Name:        "identity:delete_trust",
		Description: "remove trust",
		Check:       "rule:admin_required or user_id:%(target.trust.trustor_user_id)s",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "user_id:%(target.trust.trustor_user_id)s", Since: train},
		Operations:  []string{"DELETE /v3/OS-TRUST/trusts/{trust_id}"},
	},
	{
		Name:        "identity:get_trust",
		Description: "read one trust",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all or user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s)",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "user_id:%(target.trust.trustor_user_id)s or user_id:%(target.trust.trustee_user_id)s", Since: train},
		Operations:  []string{"GET /v3/OS-TRUST/trusts/{trust_id}", "HEAD /v3/OS-TRUST/trusts/{trust_id}"},
	},
}
