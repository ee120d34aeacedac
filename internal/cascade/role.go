package cascade

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// RoleDeleted removes a role with its grants and implications, and the
// application credentials of the users who had it on the project these are for
// (keystone/assignment/core.py delete_role). Tokens are judged anew by what
// roles are left.
func RoleDeleted(ctx context.Context, c db.Conn, roleID string) error {
	var b db.Batch
	b.Exec(`delete from application_credential where exists (select 1 from assignment a
where a.role_id = $1 and a.type = 'UserProject' and a.actor_id = application_credential.user_id and a.target_id = application_credential.project_id)`, roleID)
	b.Exec(`delete from assignment where role_id = $1`, roleID)
	b.Exec(`delete from system_assignment where role_id = $1`, roleID)
	b.Exec(`delete from implied_role where prior_role_id = $1 or implied_role_id = $1`, roleID)
	b.Exec(`delete from role_option where role_id = $1`, roleID)
	b.Exec(`delete from role where id = $1`, roleID)
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("remove role %s and what is its: %w", roleID, err)
	}
	return nil
}
