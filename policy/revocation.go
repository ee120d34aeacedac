package policy

// revocationRules guard revocation events.
var revocationRules = []Rule{
	{
		Name:        "identity:list_revoke_events",
		Description: "list revocation events",
		Check:       serviceOrAdmin,
		ScopeTypes:  systemProject,
		Operations:  []string{"GET /v3/OS-REVOKE/events"},
	},
	{
		Name:        "identity:revocation_list",
		Description: "old PKI revocation list (dead)",
		Check:       serviceOrAdmin,
		ScopeTypes:  systemProject,
		Removal:     true,
		Operations:  []string{"GET /v3/auth/tokens/OS-PKI/revoked"},
	},
}
