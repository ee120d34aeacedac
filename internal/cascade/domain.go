package cascade

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Contents are the ids of what went with a domain, in the order in which it
// went.
type Contents struct{ Projects, Groups, Users []string }

// DomainDeleted removes the groups, users, identity providers, grants and
// settings of a domain whose projects are gone already
// (keystone/identity/core.py _domain_deleted, and the listeners of the
// domain's notification), and gives them back.
func (r Revoker) DomainDeleted(ctx context.Context, c db.Conn, domainID string) (Contents, error) {
	groups, err := ids(ctx, c, `select id from "group" where domain_id = $1 order by id`+db.ForUpdate(c.Dialect()), domainID)
	if err != nil {
		return Contents{}, err
	}
	for _, id := range groups {
		if err := r.GroupDeleted(ctx, c, id); err != nil {
			return Contents{}, err
		}
	}
	users, err := ids(ctx, c, `select id from "user" where domain_id = $1 order by id`+db.ForUpdate(c.Dialect()), domainID)
	if err != nil {
		return Contents{}, err
	}
	for _, id := range users {
		if err := r.UserDeleted(ctx, c, id); err != nil {
			return Contents{}, err
		}
	}
	var b db.Batch
	b.Exec(`delete from identity_provider where domain_id = $1`, domainID)
	b.Exec(`delete from assignment where target_id = $1 and type in ('UserDomain', 'GroupDomain')`, domainID)
	b.Exec(`delete from "limit" where domain_id = $1`, domainID)
	b.Exec(`delete from whitelisted_config where domain_id = $1`, domainID)
	b.Exec(`delete from sensitive_config where domain_id = $1`, domainID)
	b.Exec(`delete from config_register where domain_id = $1`, domainID)
	if err := c.Send(ctx, &b); err != nil {
		return Contents{}, fmt.Errorf("remove what belongs to domain %s: %w", domainID, err)
	}
	return Contents{Groups: groups, Users: users}, nil
}

func ids(ctx context.Context, c db.Conn, text string, args ...any) ([]string, error) {
	list, err := db.All(ctx, c, db.Query[string]{Text: text, Args: args, Scan: func(r db.Row) (id string, err error) {
		err = r.Scan(&id)
		return id, err
	}})
	if err != nil {
		return nil, fmt.Errorf("find what hangs on it: %w", err)
	}
	return list, nil
}
