package policy

// consumerRules guard OAuth1 consumers.
var consumerRules = []Rule{
	{
		Name:        "identity:get_consumer",
		Description: "read one consumer",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/OS-OAUTH1/consumers/{consumer_id}"},
	},
	{
		Name:        "identity:list_consumers",
		Description: "list consumers",
		Check:       adminOrSystemReader,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"GET /v3/OS-OAUTH1/consumers"},
	},
	{
		Name:        "identity:create_consumer",
		Description: "make consumer",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"POST /v3/OS-OAUTH1/consumers"},
	},
	{
		Name:        "identity:update_consumer",
		Description: "change consumer",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"PATCH /v3/OS-OAUTH1/consumers/{consumer_id}"},
	},
	{
		Name:        "identity:delete_consumer",
		Description: "remove consumer",
		Check:       adminRequired,
		ScopeTypes:  systemProject,
		Deprecated:  &Deprecated{Check: adminRequired, Since: train},
		Operations:  []string{"DELETE /v3/OS-OAUTH1/consumers/{consumer_id}"},
	},
}
