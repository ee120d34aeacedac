// Package policy decides who may do what: Keystone's default rules as data, the
// operator's overrides from files, and the engine that enforces both.
package policy

import "slices"

// Rule is one registered rule with its default.
type Rule struct {
	Name  string
	Check string // in the language of package rules; "" allows everybody
	// ScopeTypes lists the token scopes that may use the rule; empty for any.
	ScopeTypes []string
	Deprecated *Deprecated
	// Operations lists the calls that the rule guards, "METHOD /path".
	Operations  []string
	Description string
	// Removal marks a rule that goes away with what it guards.
	Removal bool
}

// Deprecated is the form that a rule had before.
type Deprecated struct {
	Name  string // "" when the rule kept its name
	Check string // counts as an alternative while new defaults are not enforced
	Since string // the release
}

// The scopes a rule can ask for, as token bodies and oslo.policy name them.
var (
	anyScope      = []string{"system", "domain", "project"}
	systemProject = []string{"system", "project"}
	projectOnly   = []string{"project"}
)

// Releases in which Keystone's rules changed.
const (
	stein = "Stein"
	train = "Train"
)

// Check strings that many rules share.
const (
	adminRequired       = "rule:admin_required"
	adminOrSystemReader = "rule:admin_required or (role:reader and system_scope:all)"
	serviceOrAdmin      = "rule:service_or_admin"
	adminOrOwner        = "rule:admin_or_owner"
)

// Defaults are Keystone's own rules.
var Defaults = slices.Concat(
	baseRules,
	accessRuleRules,
	accessTokenRules,
	applicationCredentialRules,
	authRules,
	consumerRules,
	credentialRules,
	domainRules,
	domainConfigRules,
	ec2CredentialRules,
	endpointRules,
	endpointGroupRules,
	grantRules,
	systemGrantRules,
	groupRules,
	identityProviderRules,
	impliedRoleRules,
	limitRules,
	mappingRules,
	policyRules,
	policyAssociationRules,
	projectRules,
	projectTagRules,
	projectEndpointRules,
	protocolRules,
	regionRules,
	registeredLimitRules,
	revocationRules,
	roleRules,
	domainRoleRules,
	roleAssignmentRules,
	signatureRules,
	serviceRules,
	serviceProviderRules,
	tokenRules,
	trustRules,
	userRules,
)
