package policy

// tokenRules guard tokens.
var tokenRules = []Rule{
	{
		Name:        "identity:check_token",
		Description: "HEAD token check",
		Check:       "rule:admin_required or (role:reader and system_scope:all) or rule:token_subject",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_or_token_subject", Since: train},
		Operations:  []string{"HEAD /v3/auth/tokens"},
	},
	{
		Name:        "identity:validate_token",
		Description: "GET token validation",
		Check:       "rule:admin_required or (role:reader and system_scope:all) or rule:service_role or rule:token_subject",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:service_admin_or_token_subject", Since: train},
		Operations:  []string{"GET /v3/auth/tokens"},
	},
	{
		Name:        "identity:revoke_token",
		Description: "revoke one token",
		Check:       "rule:admin_required or rule:token_subject",
		ScopeTypes:  anyScope,
		Deprecated:  &Deprecated{Check: "rule:admin_or_token_subject", Since: train},
		Operations:  []string{"DELETE /v3/auth/tokens"},
	},
}
