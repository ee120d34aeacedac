package v3

import (
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/health"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/resource"
)

// Resources are what the rows work on. The zero value will do to list them.
type Resources struct {
	Own            Own
	DB             db.DB
	Auth           *auth.Service
	Users          identity.Users
	Regions        catalog.Regions
	Services       catalog.Services
	Endpoints      catalog.Endpoints
	Policies       catalog.Policies
	EndpointGroups catalog.EndpointGroups
	EndpointFilter catalog.EndpointFilter
	Projects       resource.Projects
	DomainConfigs  resource.DomainConfigs
	// DefaultDomain is [identity] default_domain_id.
	DefaultDomain string
	Groups        identity.Groups
	Roles         assignment.Roles
	Grants        assignment.Grants
	Credentials   Credentials
	Registry      limit.Registry
	Limits        limit.Limits
	Health        *health.Checks
	Now           func() time.Time
}

// Table is every row that is served, without the HEAD of each GET.
func Table(r Resources) []Route {
	people := users{r.Users, r.Auth, r.Groups, r.DefaultDomain}
	tree := projects{r.Projects, r.DefaultDomain, r.Limits, r.Grants.Memberships}
	rows := slices.Concat(
		discoveryRoutes(),
		r.Own.routes(r.DB),
		healthcheck{r.Health, r.Now}.routes(),
		authTokens{r.Auth}.routes(),
		authScopes{r.Grants}.routes(),
		people.routes(),
		groups{r.Groups, people, r.DefaultDomain}.routes(),
		regions{r.Regions}.routes(),
		services{r.Services}.routes(),
		endpoints{r.Endpoints}.routes(),
		policies{r.Policies}.routes(),
		policyTies{r.Policies}.routes(),
		endpointGroups{r.EndpointGroups}.routes(),
		endpointFilter{r.EndpointFilter, r.EndpointGroups}.routes(),
		credentials{r.Credentials}.routes(),
		revokeEvents{r.DB}.routes(),
		domains{r.Projects}.routes(),
		domainConfigs{r.DomainConfigs}.routes(),
		roles{r.Roles}.routes(),
		impliedRoles{r.Roles}.routes(),
		grants{r.Grants, people}.routes(),
		roleAssignments{r.Grants, r.Projects}.routes(),
		tree.routes(),
		projectTags{tree}.routes(),
		registeredLimits{r.Registry}.routes(),
		limits{r.Limits}.routes(),
	)
	for i := range rows {
		rows[i] = rows[i].shaped()
	}
	return rows
}
