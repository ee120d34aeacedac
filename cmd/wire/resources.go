package wire

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/resource"
)

// resources are what the rows of the API work on.
func (b *builder) resources() v3.Resources {
	d, global := b.app.DB, b.cfg.Default.ListLimit
	ofCatalog := listLimit(b.cfg.Catalog.ListLimit, global)
	memberships := identity.Memberships{Now: b.Now, Usual: b.cfg.Federation.DefaultAuthorizationTTL}
	return v3.Resources{
		Own:    v3.Own{Guard: b.app.guard, Desk: desk{b.app.face}, Log: b.Log},
		Health: b.checks, Now: b.Now, DB: d, Auth: b.app.Auth, Users: b.app.Users,
		Groups:         identity.Groups{DB: d, Limit: listLimit(b.cfg.Identity.ListLimit, global), Revoker: b.app.Users.Revoker, Memberships: memberships},
		Regions:        catalog.Regions{DB: d},
		Services:       catalog.Services{DB: d, Limit: ofCatalog},
		Endpoints:      catalog.Endpoints{DB: d, Limit: ofCatalog},
		Policies:       catalog.Policies{DB: d, Limit: listLimit(b.cfg.Policy.ListLimit, global)},
		EndpointGroups: catalog.EndpointGroups{DB: d}, EndpointFilter: catalog.EndpointFilter{DB: d},
		Grants: assignment.Grants{DB: d, Memberships: memberships},
		Credentials: v3.Credentials{
			Credentials:  credential.Credentials{DB: d, Vault: b.vault, UserLimit: b.cfg.Credential.UserLimit},
			Primary:      b.cfg.Auth.AdditionalPrimaryAuthMethods,
			CrossProject: b.cfg.SecurityCompliance.AllowInsecureAdminTrustCrossProjectCredentialsAccess,
		},
		Roles:    assignment.Roles{DB: d, Limit: listLimit(b.cfg.Role.ListLimit, global), Prohibited: b.cfg.Assignment.ProhibitedImpliedRole},
		Registry: limit.Registry{DB: d},
		Limits:   limit.Limits{DB: d, Model: limit.ModelOf(b.cfg.UnifiedLimit.EnforcementModel)},
		Projects: b.projects(), DefaultDomain: b.cfg.Identity.DefaultDomainID,
		DomainConfigs: b.domainConfigs(),
	}
}

// deepProjects warns of projects that stand deeper than the model of limits
// knows: their limits are held against nothing that is right.
func (b *builder) deepProjects(ctx context.Context) []string {
	model := limit.ModelOf(b.cfg.UnifiedLimit.EnforcementModel)
	ids, err := model.TooDeep(ctx, b.app.DB)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("[unified_limit] enforcement_model %s: whether projects are too deep for it is not known: %s", model.Name, err)}
	case len(ids) > 0:
		return []string{fmt.Sprintf("[unified_limit] enforcement_model %s does not know projects below projects, and there are some: %s", model.Name, strings.Join(ids, ", "))}
	}
	return nil
}

func (b *builder) projects() resource.Projects {
	deepest := b.cfg.Default.MaxProjectTreeDepth
	if b.cfg.UnifiedLimit.EnforcementModel == "strict_two_level" {
		deepest = min(deepest, 2) // what the model can enforce
	}
	return resource.Projects{
		DB: b.app.DB, Limit: listLimit(b.cfg.Resource.ListLimit, b.cfg.Default.ListLimit), MaxDepth: deepest,
		SafeProjectNames: b.cfg.Resource.ProjectNameURLSafe != "off", SafeDomainNames: b.cfg.Resource.DomainNameURLSafe != "off",
		FederatedDomain: b.cfg.Federation.FederatedDomainName, Revoker: b.app.Users.Revoker,
	}
}

func (b *builder) domainConfigs() resource.DomainConfigs {
	configs := DomainConfigs(b.cfg, b.app.DB)
	configs.Warn = func(ctx context.Context, message string, args ...any) { b.Log.WarnContext(ctx, message, args...) }
	return configs
}

// DomainConfigs are the options that domains set for themselves, beside those
// of the configuration.
func DomainConfigs(cfg *conf.Config, d db.DB) resource.DomainConfigs {
	return resource.DomainConfigs{
		DB: d, DefaultDomain: cfg.Identity.DefaultDomainID,
		Additional: cfg.DomainConfig.AdditionalWhitelistedOptions, AdditionalSecrets: cfg.DomainConfig.AdditionalSensitiveOptions,
		Running: func(group, option string) (any, bool) {
			s, found := cfg.Find(group, option)
			return s.Value, found && !s.Secret
		},
	}
}
