package policy

// applicationCredentialRules guard application credentials.
var applicationCredentialRules = []Rule{
	{
		Name:        "identity:get_application_credential",
		Description: "read one application credential",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or rule:owner",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: train},
		Operations: []string{
			"GET /v3/users/{user_id}/application_credentials/{application_credential_id}",
			"HEAD /v3/users/{user_id}/application_credentials/{application_credential_id}",
		},
	},
	{
		Name:        "identity:list_application_credentials",
		Description: "list application credentials",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or rule:owner",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: train},
		Operations:  []string{"GET /v3/users/{user_id}/application_credentials", "HEAD /v3/users/{user_id}/application_credentials"},
	},
	{
		Name:        "identity:create_application_credential",
		Description: "make application credential",
		Check:       "user_id:%(user_id)s",
		ScopeTypes:  projectOnly,
		Operations:  []string{"POST /v3/users/{user_id}/application_credentials"},
	},
	{
		Name:        "identity:delete_application_credential",
		Description: "remove application credential",
		Check:       adminOrOwner,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: train},
		Operations:  []string{"DELETE /v3/users/{user_id}/application_credentials/{application_credential_id}"},
	},
}
