package auth

import (
	"errors"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// The 404 of a token that was good once (keystone/token/provider.py): one
// answer, told apart for metrics.
var (
	errStale    = stale("unusable")
	errExpired  = stale("expired")
	errRevoked  = stale("revoked")
	errInactive = fault.New(fault.NotFound, noToken).Because("disabled")
)

const noToken = "Could not find token."

func stale(reason string) *fault.Error {
	return fault.New(fault.NotFound, "Failed to validate token").Because(reason)
}

// errNoRoles is Python's TokenNotFound, without the token in its text.
var errNoRoles = fault.New(fault.NotFound, noToken).Because("no_role")

// live holds the rows behind one or two tokens, read in one batch.
type live struct {
	accounts *db.Result[identity.Account]
	projects *db.Result[resource.Project]
	common   *db.Result[common]
	events   *db.Result[event]
	tokens   []*token.Token // those that the rows are of
	scopes   []scopeRows    // of each of them
}

// scopeRows are the rows of a token's scope.
type scopeRows struct {
	roles   *db.Result[assignment.Granted] // nil: it has none
	catalog *catalog.Reads                 // nil: not wanted
}

func (l live) scope(t *token.Token) scopeRows { return l.scopes[slices.Index(l.tokens, t)] }

// queueLive adds the reads that tokens stand on: at most 9 statements for two
// tokens, however many rows there are.
func (s *Service) queueLive(b *db.Batch, tokens []*token.Token, wantCatalog func(*token.Token) bool) live {
	l := live{tokens: tokens, scopes: make([]scopeRows, len(tokens))}
	var users, scopes []string
	for _, t := range tokens {
		users = addOnce(users, t.UserID)
		scopes = addOnce(scopes, t.ProjectID, t.DomainID)
	}
	l.accounts = db.Add(b, identity.OwnersByID(users))
	if len(scopes) > 0 {
		l.projects = db.Add(b, resource.ProjectsByID(scopes))
	}
	for i, t := range tokens {
		if q, ok := rolesOf(t); ok {
			l.scopes[i].roles = db.Add(b, q)
		}
		if wantCatalog(t) {
			reads := catalog.Read(b, t.ProjectID)
			l.scopes[i].catalog = &reads
		}
	}
	l.events = db.Add(b, eventsFor(tokens))
	l.common = db.Add(b, commonRows)
	return l
}

func addOnce(list []string, items ...string) []string {
	for _, x := range items {
		if x != "" && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

func rolesOf(t *token.Token) (db.Query[assignment.Granted], bool) {
	switch {
	case t.System != "":
		return assignment.RolesOnSystem(t.UserID), true
	case t.DomainID != "":
		return assignment.RolesOnDomain(t.UserID, t.DomainID), true
	case t.ProjectID != "":
		return assignment.RolesOnProject(t.UserID, t.ProjectID), true
	}
	return db.Query[assignment.Granted]{}, false
}

// served tells whether tokens of this kind can be judged: those of trusts,
// application credentials, OAuth and federation cannot yet.
func served(t *token.Token) bool {
	return t.TrustID == "" && t.AppCredID == "" && t.AccessTokenID == "" && t.Thumbprint == "" && !t.Federated
}

// identity judges one token by its rows, in the order of
// keystone/token/provider.py: scope, user, roles, life, revocation, user
// enabled.
func (s *Service) identity(id string, t *token.Token, l live, window time.Duration) (*Identity, error) {
	who := &Identity{ID: id, Token: t, ServiceProviders: providersOf(l.common.All())}
	if err := who.findScope(l); err != nil {
		return nil, err
	}
	account, err := l.account(t.UserID)
	if err != nil {
		return nil, err
	}
	who.setUser(account)
	scope := l.scope(t)
	if scope.roles != nil {
		if who.Roles = assignment.Effective(scope.roles.All(), implicationsOf(l.common.All()), s.memberships()); len(who.Roles) == 0 {
			return nil, errNoRoles
		}
	}
	now := s.now().UTC()
	switch {
	case !now.Before(t.ExpiresAt.Add(window)):
		return nil, errExpired
	case revoked(l.events.All(), who):
		return nil, errRevoked
	case !account.Active(now, s.IdleDays):
		return nil, errInactive
	}
	if scope.catalog != nil {
		who.Catalog = s.drawn.of(*scope.catalog, s.catalogScope(t))
	}
	s.markAdminProject(who)
	return who, nil
}

func (l live) account(userID string) (identity.Account, error) {
	a, ok := identity.NewestOf(l.accounts.All(), userID)
	if !ok {
		return a, fault.NoSuch("user", userID)
	}
	return a, usable(a.Domain, a.DomainID)
}

// usable tells of the domain of a user or project that is gone or disabled.
func usable(d resource.Domain, id string) error {
	switch {
	case d.ID == "":
		return fault.NoSuch("domain", id)
	case !d.Enabled:
		return disabled("domain", id)
	}
	return nil
}

// disabled is the 404 of what is there and switched off
// (keystone/models/token_model.py).
func disabled(what, id string) error {
	return fault.New(fault.NotFound, "Unable to validate token because %s %s is disabled", what, id).Because("disabled")
}

func (id *Identity) findScope(l live) error {
	t := id.Token
	if t.ProjectID == "" && t.DomainID == "" {
		return nil
	}
	for _, p := range l.projects.All() {
		switch {
		case p.ID == t.ProjectID && p.ID != resource.RootDomainID:
			if !p.Enabled {
				return disabled("project", p.ID)
			}
			id.Project = &p
			if p.IsDomain {
				return nil
			}
			return usable(p.Domain, p.DomainID)
		case p.ID == t.DomainID && p.IsDomain:
			if !p.Enabled {
				return disabled("domain", p.ID)
			}
			id.Domain = &resource.Domain{ID: p.ID, Name: p.Name, Enabled: true}
			return nil
		}
	}
	if t.ProjectID != "" {
		return fault.NoSuch("project", t.ProjectID)
	}
	return fault.NoSuch("domain", t.DomainID)
}

func (id *Identity) setUser(a identity.Account) {
	id.User = User{
		ID: a.ID, Name: a.Name, DomainID: a.Domain.ID, DomainName: a.Domain.Name,
		PasswordExpiresAt: a.Password.ExpiresAt,
	}
}

// catalogScope is what the URLs of a token's catalog are filled with.
func (s *Service) catalogScope(t *token.Token) catalog.Scope {
	return catalog.Scope{
		ProjectID: t.ProjectID, UserID: t.UserID,
		PublicEndpoint: s.PublicEndpoint, AllWithoutFilter: s.AllEndpoints,
	}
}

// markAdminProject says whether a project is the one that [resource]
// admin_project_* name; nothing is said where they are not both set.
func (s *Service) markAdminProject(id *Identity) {
	if id.Project == nil || s.AdminProject == "" || s.AdminProjectDomain == "" {
		return
	}
	is := id.Project.Name == s.AdminProject && id.Project.Domain.Name == s.AdminProjectDomain
	id.IsAdminProject = &is
}

// isStale tells the refusals that make a caller anonymous from those that are
// answered at once.
func isStale(err error) bool {
	for _, stale := range []error{errStale, errExpired, errRevoked, errInactive, errNoRoles, token.ErrNotFound} {
		if errors.Is(err, stale) {
			return true
		}
	}
	return false
}
