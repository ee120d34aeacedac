package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Group is a group of users.
type Group struct {
	ID, Name, DomainID string
	Description        *string
	Extra              pyjson.Object // members that Keystone has no column for
}

// CreateGroup stores a group.
func CreateGroup(ctx context.Context, c db.Conn, g Group) error {
	_, err := c.Exec(ctx, `insert into "group" (id, domain_id, name, description, extra) values ($1, $2, $3, $4, $5)`,
		g.ID, g.DomainID, g.Name, g.Description, pyjson.WriteExtra(g.Extra))
	if errors.Is(err, db.ErrDuplicate) {
		return fault.Duplicate("group", "Duplicate entry found with name %s at domain ID %s", g.Name, g.DomainID)
	}
	if err != nil {
		return fmt.Errorf("create group %s: %w", g.ID, err)
	}
	return nil
}

// AddToGroup makes a user a member; twice is once.
func AddToGroup(ctx context.Context, c db.Conn, userID, groupID string) error {
	err := db.Nested(ctx, c, func(c db.Conn) error {
		_, err := c.Exec(ctx, `insert into user_group_membership (user_id, group_id) values ($1, $2)`, userID, groupID)
		return err
	})
	if err != nil && !errors.Is(err, db.ErrDuplicate) {
		return fmt.Errorf("add user %s to group %s: %w", userID, groupID, err)
	}
	return nil
}
