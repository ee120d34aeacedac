package assignment

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// Assignment is a role that somebody has somewhere. It is comparable, so that
// two ways to the same one are one.
type Assignment struct {
	UserID, GroupID     string // one of them
	ProjectID, DomainID string // one of them, or neither: the system
	RoleID              string
	Inherited           bool // holds below the target, not on it
	// By says what made it of a grant, where it is not one itself.
	By By
}

// By are the group, the place and the prior role that an effective assignment
// comes from.
type By struct{ GroupID, ProjectID, DomainID, RoleID string }

// Filter says which assignments are asked for; what is empty is not asked.
type Filter struct {
	RoleID, UserID, GroupID, DomainID, ProjectID string
	// Subtree asks for those on the projects below ProjectID too.
	Subtree bool
	// System asks for those on the system alone.
	System bool
	// Inherited asks for inherited grants alone, or for the others.
	Inherited *bool
	// Effective has groups, inheritance and implication worked out, so that
	// all are of users and where they hold.
	Effective bool
	// InDomain leaves those on this domain and on projects in it.
	InDomain string
}

// Assignments lists them in one round trip. The order is none.
func (g Grants) Assignments(ctx context.Context, f Filter) ([]Assignment, error) {
	if f.Effective {
		return g.effective(ctx, f)
	}
	return g.direct(ctx, f)
}

// direct lists grants as they were made (_list_direct_role_assignments in
// keystone/assignment/core.py).
func (g Grants) direct(ctx context.Context, f Filter) ([]Assignment, error) {
	var b db.Batch
	var grants, system *db.Result[row]
	if !f.System {
		grants = db.Add(&b, f.source().query())
	}
	if f.System || f.ProjectID == "" && f.DomainID == "" {
		system = db.Add(&b, f.onSystem())
	}
	if err := g.send(ctx, &b); err != nil {
		return nil, err
	}
	var out []Assignment
	for _, found := range []*db.Result[row]{grants, system} {
		if found == nil {
			continue
		}
		for _, r := range found.All() {
			if f.InDomain == "" || r.DomainID == f.InDomain || r.ProjectID != "" && r.home == f.InDomain {
				out = append(out, r.Assignment)
			}
		}
	}
	return out, nil
}

// send sends the reads of a list; an id that cannot be finds nothing.
func (g Grants) send(ctx context.Context, b *db.Batch) error {
	if err := g.DB.Send(ctx, b); err != nil && !errors.Is(err, db.ErrBadValue) {
		return fmt.Errorf("list role assignments: %w", err)
	}
	return nil
}

// effective lists what users hold (_list_effective_role_assignments).
func (g Grants) effective(ctx context.Context, f Filter) ([]Assignment, error) {
	s := f.source()
	var b db.Batch
	x := expansion{Filter: f, seen: map[Assignment]bool{}}
	grants, implied := db.Add(&b, s.query()), db.Add(&b, Implications)
	var users *db.Result[string]
	var joined func() []string
	var members *db.Result[membership]
	if f.UserID != "" {
		users, joined = db.Add(&b, userByID(f.UserID)), g.Memberships.Joined(&b, f.UserID)
	} else {
		members = db.Add(&b, s.members())
	}
	tree := db.Add(&b, s.tree())
	if err := g.send(ctx, &b); err != nil {
		return nil, err
	}
	x.plant(tree.All())
	switch {
	case f.ProjectID != "" && (f.Inherited == nil || *f.Inherited) && !x.known(f.ProjectID):
		return nil, fault.NoSuch("project", f.ProjectID)
	case users != nil && len(users.All()) == 0:
		return nil, fault.NoSuch("user", f.UserID)
	}
	if joined != nil {
		x.joinOne(f.UserID, joined())
	} else {
		x.join(members.All())
	}
	x.imply(implied.All())
	for _, r := range grants.All() {
		x.grant(r)
	}
	return x.out, nil
}
