package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// Groups are the groups of a database.
type Groups struct {
	DB db.DB
	// Limit is [identity] list_limit, 0 for none.
	Limit       int
	Revoker     cascade.Revoker
	Memberships Memberships
}

// GroupChange is what an update sets; a nil field stays as it is.
type GroupChange struct {
	Name        *string
	Description **string // set to nil: null
	Extra       pyjson.Object
}

// Get returns a group; 404 when there is none.
func (g Groups) Get(ctx context.Context, id string) (Group, error) { return group(ctx, g.DB, id) }

func group(ctx context.Context, c db.Conn, id string) (Group, error) {
	return groupWith(ctx, c, id, "")
}

// groupWith is group with a lock, which keeps the group until the transaction
// is over.
func groupWith(ctx context.Context, c db.Conn, id, lock string) (Group, error) {
	q := GroupByID(id)
	q.Text += lock
	out, err := db.One(ctx, c, q)
	switch {
	case errors.Is(err, db.ErrNoRow), errors.Is(err, db.ErrBadValue):
		return Group{}, fault.NoSuch("group", id)
	case err != nil:
		return Group{}, fmt.Errorf("read group %s: %w", id, err)
	}
	return out, nil
}

// List returns a page of groups by their ids; with a domain, of its groups
// alone. 404 when the marker is no group.
func (g Groups) List(ctx context.Context, h hints.Hints, domainID string) (hints.Page[Group], error) {
	rows, page := groupSource(domainID).Query(h)
	var b db.Batch
	var marker *db.Result[Group]
	if h.Marker != nil {
		marker = db.Add(&b, GroupByID(*h.Marker))
	}
	found := db.Add(&b, rows)
	if err := g.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return hints.Page[Group]{}, nil
		}
		return hints.Page[Group]{}, fmt.Errorf("list groups: %w", err)
	}
	if marker != nil && len(marker.All()) == 0 {
		return hints.Page[Group]{}, fault.New(fault.NotFound, "Marker %s could not be found.", *h.Marker)
	}
	return page.With(found.All(), h), nil
}

// Joined is a group of a user; Until is nil where he is in it for good.
type Joined struct {
	Group
	Until *time.Time
}

// Of returns the groups of a user; 404 when there is no such user. Those in
// which he is for now stand behind the others, whatever filter the database
// was asked, as in Python Keystone.
func (g Groups) Of(ctx context.Context, userID string, h hints.Hints) (hints.Page[Joined], error) {
	rows, page := groupsOf(userID).Query(h)
	var b db.Batch
	user, found, ending := db.Add(&b, userExists(userID)), db.Add(&b, rows), db.Add(&b, endingGroups(userID))
	if err := g.DB.Send(ctx, &b); err != nil {
		return hints.Page[Joined]{}, fmt.Errorf("list the groups of user %s: %w", userID, err)
	}
	if len(user.All()) == 0 {
		return hints.Page[Joined]{}, fault.NoSuch("user", userID)
	}
	page = page.With(found.All(), h)
	for _, x := range ending.All() {
		if !page.Truncated && g.Memberships.Live(x.Membership) {
			page.Rows = append(page.Rows, Joined{x.Group, new(g.Memberships.Until(x.Membership))})
		}
	}
	return page, nil
}

// Create stores a group and returns it: 404 when its domain does not exist, 409
// when its name is taken there.
func (g Groups) Create(ctx context.Context, n Group) (Group, error) {
	n.Name = strings.TrimSpace(n.Name)
	err := g.DB.Tx(ctx, func(c db.Conn) error {
		if err := domainExists(ctx, c, n.DomainID); err != nil {
			return err
		}
		return CreateGroup(ctx, c, n)
	})
	return n, err
}

func domainExists(ctx context.Context, c db.Conn, id string) error {
	_, err := db.One(ctx, c, resource.DomainKept(c.Dialect(), id))
	switch {
	case errors.Is(err, db.ErrNoRow):
		return fault.NoSuch("domain", id)
	case err != nil:
		return fmt.Errorf("read domain %s: %w", id, err)
	}
	return nil
}

// Update changes a group and returns it: 404 when there is none, 409 when its
// new name is taken.
func (g Groups) Update(ctx context.Context, id string, ch GroupChange) (Group, error) {
	var out Group
	err := g.DB.Tx(ctx, func(c db.Conn) (err error) {
		if out, err = groupWith(ctx, c, id, db.ForUpdate(c.Dialect())); err != nil {
			return err
		}
		if ch.Name != nil {
			out.Name = strings.TrimSpace(*ch.Name)
		}
		if ch.Description != nil {
			out.Description = *ch.Description
		}
		out.Extra = out.Extra.Merge(ch.Extra)
		_, err = c.Exec(ctx, `update "group" set name = $2, description = $3, extra = $4 where id = $1`,
			id, out.Name, out.Description, pyjson.WriteExtra(out.Extra))
		return err
	})
	if errors.Is(err, db.ErrDuplicate) {
		return Group{}, fault.Duplicate("group", "Duplicate entry found with name %s", out.Name)
	}
	return out, fault.Wrap(err, "update group", id)
}

// Delete removes a group with its memberships and grants; 404 when there is
// none.
func (g Groups) Delete(ctx context.Context, id string) error {
	return g.DB.Tx(ctx, func(c db.Conn) error {
		if _, err := db.All(ctx, c, held(c.Dialect(), "group", id)); err != nil && !errors.Is(err, db.ErrBadValue) {
			return fmt.Errorf("hold group %s: %w", id, err)
		}
		if _, err := group(ctx, c, id); err != nil {
			return err
		}
		return g.Revoker.GroupDeleted(ctx, c, id)
	})
}

// Add makes a user a member, once; 404 when either does not exist.
func (g Groups) Add(ctx context.Context, userID, groupID string) error {
	err := g.DB.Tx(ctx, func(c db.Conn) error {
		if err := bothExist(ctx, c, userID, groupID); err != nil {
			return err
		}
		return AddToGroup(ctx, c, userID, groupID)
	})
	if errors.Is(err, db.ErrReference) { // one of them was deleted in between
		return cmp.Or(bothExist(ctx, g.DB, userID, groupID), err)
	}
	return err
}

// Has returns nil for a member of the group, and a 404 for whoever is none.
func (g Groups) Has(ctx context.Context, userID, groupID string) error {
	var b db.Batch
	both, joined := queueBoth(&b, userID, groupID), g.Memberships.Joined(&b, userID)
	if err := g.DB.Send(ctx, &b); err != nil {
		return fmt.Errorf("look for user %s in group %s: %w", userID, groupID, err)
	}
	if err := both(); err != nil {
		return err
	}
	if !slices.Contains(joined(), groupID) {
		return noMember(userID, groupID)
	}
	return nil
}

func noMember(userID, groupID string) error {
	return fault.New(fault.NotFound, "User '%s' not found in group '%s'", userID, groupID)
}

// Remove ends a membership and voids the user's tokens; 404 for whoever is no
// member.
func (g Groups) Remove(ctx context.Context, userID, groupID string) error {
	return g.DB.Tx(ctx, func(c db.Conn) error {
		n, err := c.Exec(ctx, `delete from user_group_membership where user_id = $1 and group_id = $2`, userID, groupID)
		if err != nil {
			return fmt.Errorf("remove user %s from group %s: %w", userID, groupID, err)
		}
		if n == 0 {
			if err := bothExist(ctx, c, userID, groupID); err != nil {
				return err
			}
			return noMember(userID, groupID)
		}
		var b db.Batch
		g.Revoker.Revoke(&b, cascade.Revocation{UserID: userID})
		return c.Send(ctx, &b)
	})
}

// bothExist refuses a group or a user that is not there, the group first.
func bothExist(ctx context.Context, c db.Conn, userID, groupID string) error {
	var b db.Batch
	both := queueBoth(&b, userID, groupID)
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("read group %s and user %s: %w", groupID, userID, err)
	}
	return both()
}

// queueBoth queues the reads of bothExist, and gives what judges them.
func queueBoth(b *db.Batch, userID, groupID string) func() error {
	g, u := db.Add(b, GroupByID(groupID)), db.Add(b, userExists(userID))
	return func() error {
		if len(g.All()) == 0 {
			return fault.NoSuch("group", groupID)
		}
		if len(u.All()) == 0 {
			return fault.NoSuch("user", userID)
		}
		return nil
	}
}
