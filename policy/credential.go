package policy

// credentialRules guard credentials.
var credentialRules = []Rule{
	{
		Name:        "identity:get_credential",
		Description: "read one credential",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/credentials/{credential_id}"},
	},
	{
		Name:        "identity:list_credentials",
		Description: "list credentials",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"GET /v3/credentials"},
	},
	{
		Name:        "identity:create_credential",
		Description: "make credential",
		Check:       "(rule:admin_required) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"POST /v3/credentials"},
	},
	{
		Name:        "identity:update_credential",
		Description: "change credential",
		Check:       "(rule:admin_required) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"PATCH /v3/credentials/{credential_id}"},
	},
	{
		Name:        "identity:delete_credential",
		Description: "remove credential",
		Check:       "(rule:admin_required) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: adminRequired, Since: stein},
		Operations:  []string{"DELETE /v3/credentials/{credential_id}"},
	},
}
