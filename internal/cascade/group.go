package cascade

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// GroupDeleted removes a group with its memberships and grants. Where it had a
// grant, the tokens of its members are void (keystone/identity/core.py
// delete_group).
func (r Revoker) GroupDeleted(ctx context.Context, c db.Conn, groupID string) error {
	members, err := ids(ctx, c, `select m.user_id from user_group_membership m
where m.group_id = $1 and (exists (select 1 from assignment a where a.actor_id = $1 and a.type in ('GroupProject', 'GroupDomain'))
  or exists (select 1 from system_assignment s where s.actor_id = $1 and s.type = 'GroupSystem'))
order by m.user_id`, groupID)
	if err != nil {
		return err
	}
	var b db.Batch
	b.Exec(`delete from user_group_membership where group_id = $1`, groupID)
	b.Exec(`delete from expiring_user_group_membership where group_id = $1`, groupID)
	b.Exec(`delete from "group" where id = $1`, groupID)
	b.Exec(`delete from id_mapping where public_id = $1`, groupID)
	b.Exec(`delete from assignment where actor_id = $1 and type in ('GroupProject', 'GroupDomain')`, groupID)
	b.Exec(`delete from system_assignment where actor_id = $1 and type = 'GroupSystem'`, groupID)
	for _, id := range members {
		r.Revoke(&b, Revocation{UserID: id})
	}
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("remove group %s and what is its: %w", groupID, err)
	}
	return nil
}
