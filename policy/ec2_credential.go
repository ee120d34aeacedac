package policy

// ec2CredentialRules guard EC2 credentials.
var ec2CredentialRules = []Rule{
	{
		Name:        "identity:ec2_get_credential",
		Description: "read one EC2 credential",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or user_id:%(target.credential.user_id)s",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "rule:admin_required or (rule:owner and user_id:%(target.credential.user_id)s)", Since: train},
		Operations:  []string{"GET /v3/users/{user_id}/credentials/OS-EC2/{credential_id}"},
	},
	{
		Name:        "identity:ec2_list_credentials",
		Description: "list EC2 credentials",
		Check:       "(rule:admin_required) or (role:reader and system_scope:all) or rule:owner",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: train},
		Operations:  []string{"GET /v3/users/{user_id}/credentials/OS-EC2"},
	},
	{
		Name:        "identity:ec2_create_credential",
		Description: "make EC2 credential",
		Check:       "(rule:admin_required) or (role:member and user_id:%(target.credential.user_id)s)",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminOrOwner, Since: train},
		Operations:  []string{"POST /v3/users/{user_id}/credentials/OS-EC2"},
	},
	{
		Name:        "identity:ec2_delete_credential",
		Description: "remove EC2 credential",
		Check:       "(rule:admin_required) or (role:member and user_id:%(target.credential.user_id)s)",
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: "rule:admin_required or (rule:owner and user_id:%(target.credential.user_id)s)", Since: train},
		Operations:  []string{"DELETE /v3/users/{user_id}/credentials/OS-EC2/{credential_id}"},
	},
}
