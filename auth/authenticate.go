package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/resource"
)

// Authenticate logs a user in: see the package comment for its steps.
func (s *Service) Authenticate(ctx context.Context, r Request) (*Identity, error) {
	id, err := s.login(ctx, r)
	s.Observer.Login(label(r.Methods), outcome(err), reason(err))
	return id, err
}

func (s *Service) login(ctx context.Context, r Request) (*Identity, error) {
	start, attempts := s.evening.now(), s.attempts(r)
	id, err := s.prove(ctx, r, attempts)
	s.evening.even(ctx, start, attempts, err)
	return id, err
}

// attempts reads the parts of the methods.
func (s *Service) attempts(r Request) []method.Attempt {
	wants := method.Wanted{Project: r.Scope.Kind == ScopeProject, Domain: r.Scope.Kind == ScopeDomain, Client: r.Client}
	attempts := make([]method.Attempt, len(r.Methods))
	for i, name := range r.Methods {
		attempts[i] = s.methods[name].Parse(r.Payload[name], wants)
	}
	return attempts
}

func (s *Service) prove(ctx context.Context, r Request, attempts []method.Attempt) (*Identity, error) {
	asked, err := s.firstBatch(ctx, r, attempts)
	if err != nil {
		return nil, err
	}
	project, domain, err := asked.resolve()
	if err != nil {
		return nil, s.waste(ctx, attempts, err)
	}
	proof, err := verifyAll(ctx, attempts)
	if err == nil {
		err = s.factors(r, &proof)
	}
	if err != nil {
		return nil, s.settled(ctx, proof, err)
	}
	return s.issue(ctx, r, proof, project, domain)
}

// settled gives the answer to a login that ends before the second batch. What
// a right password alone gets to see, a receipt or the fault of a later
// method, a lock that fell meanwhile hides.
func (s *Service) settled(ctx context.Context, p method.Proof, answer error) error {
	if p.Settle == nil {
		return answer
	}
	var b db.Batch
	p.Settle(&b)
	if err := s.db.Send(ctx, &b); err != nil {
		return fmt.Errorf("settle a login: %w", err)
	}
	if err := p.Settled(ctx); err != nil {
		return err
	}
	return answer
}

// firstBatch reads the accounts and the rows of the scope in one round trip.
func (s *Service) firstBatch(ctx context.Context, r Request, attempts []method.Attempt) (target, error) {
	var b db.Batch
	for _, a := range attempts {
		a.Queue(&b)
	}
	asked := r.Scope.queue(&b)
	if b.Len() == 0 {
		return asked, nil
	}
	if err := s.db.Send(ctx, &b); err != nil && !errors.Is(err, db.ErrBadValue) {
		return asked, fmt.Errorf("read the account of a login: %w", err)
	} else if err != nil {
		asked.bad = true
	}
	return asked, nil
}

// waste spends what the refused login would have cost and counts nothing.
func (s *Service) waste(ctx context.Context, attempts []method.Attempt, refusal error) error {
	for _, a := range attempts {
		if err := a.Waste(ctx); err != nil {
			return err
		}
	}
	return refusal
}

// verifyAll runs the methods in the order asked; all must succeed and mean
// the same user.
func verifyAll(ctx context.Context, attempts []method.Attempt) (method.Proof, error) {
	var sum method.Proof
	for i, a := range attempts {
		p, err := a.Verify(ctx)
		if err != nil {
			return sum, err
		}
		if i == 0 {
			sum = p
			continue
		}
		if p.Account.ID != sum.Account.ID {
			return sum, fault.Denied("The methods name different users.").Because("users_differ")
		}
		sum = merge(sum, p)
	}
	if len(attempts) == 0 {
		return sum, fault.Denied("The login names no user.").Because("unknown_user")
	}
	return sum, nil
}

func merge(sum, p method.Proof) method.Proof {
	for _, m := range p.Methods {
		if !slices.Contains(sum.Methods, m) {
			sum.Methods = append(sum.Methods, m)
		}
	}
	if sum.Source == nil || p.Source != nil && p.Source.ExpiresAt.Before(sum.Source.ExpiresAt) {
		sum.Source = p.Source
	}
	if sum.Settle == nil {
		sum.Settle, sum.Settled = p.Settle, p.Settled
	}
	return sum
}

// grant is the second batch of a login: what the token will hold.
type grant struct {
	project *db.Result[resource.Project] // the default project, where no scope was asked
	roles   *db.Result[assignment.Granted]
	catalog catalog.Reads
	common  *db.Result[common]
}

// issue reads roles and catalog of the scope, holds the scope against them and
// makes the token.
func (s *Service) issue(ctx context.Context, r Request, p method.Proof, project *resource.Project, domain *resource.Domain) (*Identity, error) {
	t := s.draft(r, p, project, domain)
	byDefault := r.Scope.Kind == ScopeDefault && p.Account.DefaultProjectID != ""
	if byDefault {
		t.ProjectID = p.Account.DefaultProjectID
	}
	var b db.Batch
	g := grant{common: db.Add(&b, commonRows)}
	if byDefault {
		g.project = db.Add(&b, resource.ProjectByID(t.ProjectID))
	}
	roles, scoped := rolesOf(t)
	if scoped {
		g.roles = db.Add(&b, roles)
		if r.Catalog {
			g.catalog = catalog.Read(&b, t.ProjectID)
		}
	}
	if p.Settle != nil {
		p.Settle(&b)
	}
	if err := s.reads.Send(ctx, &b); err != nil {
		return nil, fmt.Errorf("read the roles of a login: %w", err)
	}
	if p.Settled != nil {
		if err := p.Settled(ctx); err != nil {
			return nil, err
		}
	}
	if byDefault {
		if project = g.usableDefault(s.memberships()); project == nil {
			t.ProjectID, scoped = "", false
		}
	}
	return s.finish(r, p, t, g, scoped, project, domain)
}

func (g grant) effective(m identity.Memberships) []assignment.Role {
	return assignment.Effective(g.roles.All(), implicationsOf(g.common.All()), m)
}

// memberships say when those end that federated logins have made.
func (s *Service) memberships() identity.Memberships {
	return identity.Memberships{Now: s.now, Usual: s.MembershipMinutes}
}

// usableDefault gives the default project, or nil where the login must do
// without: gone, disabled, in no domain, or no role on it.
func (g grant) usableDefault(m identity.Memberships) *resource.Project {
	p, err := g.project.One()
	if err != nil || !p.Enabled || !p.Domain.Enabled || len(g.effective(m)) == 0 {
		return nil
	}
	return &p
}

func (s *Service) finish(r Request, p method.Proof, t *token.Token, g grant, scoped bool, project *resource.Project, domain *resource.Domain) (*Identity, error) {
	id := &Identity{Token: t, Project: project, Domain: domain, ServiceProviders: providersOf(g.common.All())}
	id.setUser(p.Account)
	if scoped {
		if id.Roles = g.effective(s.memberships()); len(id.Roles) == 0 {
			return nil, fault.Denied("The user has no role on the requested scope.").Because("no_role")
		}
		if r.Catalog {
			id.Catalog = s.drawn.of(g.catalog, s.catalogScope(t))
		}
	}
	s.markAdminProject(id)
	text, err := s.tokens.Issue(t)
	if err != nil {
		return nil, fmt.Errorf("issue a token: %w", err)
	}
	id.ID = text
	s.Observer.Issued(s.Provider)
	return id, nil
}

// draft is the token before it is issued.
func (s *Service) draft(r Request, p method.Proof, project *resource.Project, domain *resource.Domain) *token.Token {
	t := &token.Token{
		UserID:    p.Account.ID,
		Methods:   p.Methods,
		ExpiresAt: s.now().UTC().Add(s.Expiration).Truncate(time.Second),
		AuditIDs:  []string{token.NewAuditID()},
	}
	if p.Source != nil {
		t.ExpiresAt = p.Source.ExpiresAt
		if p.Source.AuditID != "" {
			t.AuditIDs = append(t.AuditIDs, p.Source.AuditID)
		}
	}
	switch {
	case r.Scope.Kind == ScopeSystem:
		t.System = "all"
	case project != nil:
		t.ProjectID = project.ID
	case domain != nil:
		t.DomainID = domain.ID
	}
	return t
}
