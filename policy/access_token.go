package policy

// accessTokenRules guard OAuth1 access and request tokens.
var accessTokenRules = []Rule{
	{
		Name:        "identity:authorize_request_token",
		Description: "approve an OAuth1 request token",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"PUT /v3/OS-OAUTH1/authorize/{request_token_id}"},
	},
	{
		Name:        "identity:get_access_token",
		Description: "read one access token",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"GET /v3/users/{user_id}/OS-OAUTH1/access_tokens/{access_token_id}"},
	},
	{
		Name:        "identity:get_access_token_role",
		Description: "read one access token role",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"GET /v3/users/{user_id}/OS-OAUTH1/access_tokens/{access_token_id}/roles/{role_id}"},
	},
	{
		Name:        "identity:list_access_tokens",
		Description: "list access tokens",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"GET /v3/users/{user_id}/OS-OAUTH1/access_tokens"},
	},
	{
		Name:        "identity:list_access_token_roles",
		Description: "list access token roles",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"GET /v3/users/{user_id}/OS-OAUTH1/access_tokens/{access_token_id}/roles"},
	},
	{
		Name:        "identity:delete_access_token",
		Description: "remove an OAuth1 access token (defined, route enforces another rule)",
		Check:       adminRequired,
		ScopeTypes:  projectOnly,
		Operations:  []string{"DELETE /v3/users/{user_id}/OS-OAUTH1/access_tokens/{access_token_id}"},
	},
}
