package policy

// authRules guard what tells callers what they can scope to.
var authRules = []Rule{
	{
		Name:        "identity:get_auth_catalog",
		Description: "own service catalog",
		Check:       "",
		Operations:  []string{"GET /v3/auth/catalog", "HEAD /v3/auth/catalog"},
	},
	{
		Name:        "identity:get_auth_projects",
		Description: "projects one can scope to",
		Check:       "",
		Operations:  []string{"GET /v3/auth/projects", "HEAD /v3/auth/projects"},
	},
	{
		Name:        "identity:get_auth_domains",
		Description: "domains one can scope to",
		Check:       "",
		Operations:  []string{"GET /v3/auth/domains", "HEAD /v3/auth/domains"},
	},
	{
		Name:        "identity:get_auth_system",
		Description: "whether one can scope to system",
		Check:       "",
		Operations:  []string{"GET /v3/auth/system", "HEAD /v3/auth/system"},
	},
}
