package auth

import (
	"errors"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// ScopeKind names what a token is good for.
type ScopeKind string

// The scopes that a login may ask for; ScopeDefault asks for none.
const (
	ScopeDefault  ScopeKind = ""
	ScopeUnscoped ScopeKind = "unscoped"
	ScopeSystem   ScopeKind = "system"
	ScopeProject  ScopeKind = "project"
	ScopeDomain   ScopeKind = "domain"
	ScopeTrust    ScopeKind = "OS-TRUST:trust"
)

// Scope is the scope that a login asks for. A name is preferred to an id.
type Scope struct {
	Kind                 ScopeKind
	ID, Name             string
	DomainID, DomainName string // of a project given by name
	Unsafe               bool   // a name with characters that [resource] *_name_url_safe = strict forbids
}

var scopeKinds = []ScopeKind{ScopeSystem, ScopeProject, ScopeDomain, ScopeTrust, ScopeUnscoped}

func parseScope(auth pyjson.Object, strictProject, strictDomain bool) (Scope, error) {
	raw, ok := auth.Get("scope")
	if !ok {
		return Scope{}, nil
	}
	var found []ScopeKind
	object, _ := raw.(pyjson.Object)
	for _, kind := range scopeKinds {
		if word, ok := raw.(string); ok && strings.Contains(word, string(kind)) {
			found = append(found, kind)
		} else if _, ok := object.Get(string(kind)); ok {
			found = append(found, kind)
		}
	}
	if len(found) != 1 {
		return Scope{}, fault.Invalid("system, project, domain, OS-TRUST:trust or unscoped", "scope")
	}
	s := Scope{Kind: found[0]}
	if s.Kind == ScopeSystem || s.Kind == ScopeUnscoped {
		return s, nil
	}
	ref, ok := object.Object(string(s.Kind))
	if !ok {
		return s, fault.New(fault.BadRequest, "The scope %s must be an object.", s.Kind)
	}
	s.ID, _ = ref.String("id")
	s.Name, _ = ref.String("name")
	switch s.Kind {
	case ScopeTrust:
		if s.ID == "" {
			return s, fault.Invalid("trust_id", "trust")
		}
	case ScopeDomain:
		s.Unsafe = strictDomain && strings.ContainsAny(s.Name, resource.ReservedCharacters)
	case ScopeProject:
		s.Unsafe = strictProject && strings.ContainsAny(s.Name, resource.ReservedCharacters)
		if s.Name == "" {
			return s, nil
		}
		domain, ok := ref.Object("domain")
		if !ok {
			return s, fault.Invalid("domain", "project")
		}
		s.DomainID, _ = domain.String("id")
		s.DomainName, _ = domain.String("name")
		s.Unsafe = s.Unsafe || strictDomain && strings.ContainsAny(s.DomainName, resource.ReservedCharacters)
	}
	return s, nil
}

// target is the looked-up scope of a login; nil results were not asked for.
type target struct {
	kind    ScopeKind
	project *db.Result[resource.Project]
	domain  *db.Result[resource.Domain]
	bad     bool
}

// storable tells whether a text can be in the database at all.
func storable(texts ...string) bool {
	for _, t := range texts {
		if strings.ContainsRune(t, 0) {
			return false
		}
	}
	return true
}

// queue adds the reads of a scope to the first batch of a login.
func (s Scope) queue(b *db.Batch) target {
	t := target{kind: s.Kind}
	if s.Unsafe || s.Kind == ScopeTrust || !storable(s.ID, s.Name, s.DomainID, s.DomainName) {
		t.bad = true // trusts are not issued yet: as one that does not exist
		return t
	}
	switch {
	case s.Kind == ScopeDomain && s.Name != "":
		t.domain = db.Add(b, resource.DomainByName(s.Name))
	case s.Kind == ScopeDomain:
		t.domain = db.Add(b, resource.DomainByID(s.ID))
	case s.Kind == ScopeProject && s.Name == "":
		t.project = db.Add(b, resource.ProjectByID(s.ID))
	case s.Kind == ScopeProject && s.DomainName != "":
		t.project = db.Add(b, resource.ProjectByNames(s.Name, s.DomainName))
	case s.Kind == ScopeProject:
		t.project = db.Add(b, resource.ProjectByName(s.Name, s.DomainID))
	}
	return t
}

// resolve gives the project or domain asked for; what is unknown or disabled
// is the bare 401.
func (t target) resolve() (*resource.Project, *resource.Domain, error) {
	switch {
	case t.bad:
		return nil, nil, fault.Denied("The requested scope cannot be used.").Because(reasonScope)
	case t.project != nil:
		p, err := t.project.One()
		if errors.Is(err, db.ErrNoRow) {
			return nil, nil, fault.Denied("Could not find the project of the scope.").Because(reasonScope)
		}
		if err == nil && (!p.Enabled || p.Domain.ID == "" || !p.Domain.Enabled) {
			err = fault.Denied("The project of the scope, or its domain, is disabled.").Because(reasonScope)
		}
		return &p, nil, err
	case t.domain != nil:
		d, err := t.domain.One()
		if errors.Is(err, db.ErrNoRow) {
			return nil, nil, fault.Denied("Could not find the domain of the scope.").Because(reasonScope)
		}
		if err == nil && !d.Enabled {
			err = fault.Denied("The domain of the scope is disabled.").Because(reasonScope)
		}
		return nil, &d, err
	}
	return nil, nil, nil
}
