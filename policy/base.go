package policy

// baseRules are the ones that others refer to.
var baseRules = []Rule{
	{
		Name:        "admin_required",
		Description: "holder of the admin role, or the legacy admin_token",
		Check:       "role:admin or is_admin:1",
	},
	{
		Name:        "service_role",
		Description: "holder of the service role",
		Check:       "role:service",
	},
	{
		Name:        "service_or_admin",
		Description: "service or admin role",
		Check:       "rule:admin_required or rule:service_role",
	},
	{
		Name:        "owner",
		Description: "caller is the user in the path",
		Check:       "user_id:%(user_id)s",
	},
	{
		Name:        "admin_or_owner",
		Description: "admin, or the user in the path",
		Check:       "rule:admin_required or rule:owner",
	},
	{
		Name:        "token_subject",
		Description: "caller owns the subject token",
		Check:       "user_id:%(target.token.user_id)s",
	},
	{
		Name:        "admin_or_token_subject",
		Description: "admin, or owner of the subject token",
		Check:       "rule:admin_required or rule:token_subject",
	},
	{
		Name:        "service_admin_or_token_subject",
		Description: "service, admin, or owner of the subject token",
		Check:       "rule:service_or_admin or rule:token_subject",
	},
	{
		Name:        "domain_managed_target_role",
		Description: "role is one a domain manager may hand out (manager, member, reader)",
		Check:       "'manager':%(target.role.name)s or 'member':%(target.role.name)s or 'reader':%(target.role.name)s",
	},
}
