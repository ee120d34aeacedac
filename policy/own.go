package policy

// Own are the rules for calls that Python Keystone does not have. Their names
// start with "keystone_go:".
var Own = []Rule{
	{
		Name:        "keystone_go:get_ratelimit",
		Description: "see the rate limits and how callers stand with them",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"GET /v3/keystone-go/ratelimit", "HEAD /v3/keystone-go/ratelimit"},
	},
	{
		Name:        "keystone_go:reset_ratelimit",
		Description: "give a user or an address its quota back",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"DELETE /v3/keystone-go/ratelimit"},
	},
	{
		Name:        "keystone_go:list_lockouts",
		Description: "list the accounts that failed logins have locked",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"GET /v3/keystone-go/lockouts", "HEAD /v3/keystone-go/lockouts"},
	},
	{
		Name:        "keystone_go:get_lockout",
		Description: "see whether failed logins have locked an account",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"GET /v3/users/{user_id}/lockout", "HEAD /v3/users/{user_id}/lockout"},
	},
	{
		Name:        "keystone_go:delete_lockout",
		Description: "unlock an account",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Operations:  []string{"DELETE /v3/users/{user_id}/lockout"},
	},
}
