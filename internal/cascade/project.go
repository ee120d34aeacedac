package cascade

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// ProjectDeleted removes what hangs on a project that is gone, and voids the
// tokens for it (_post_delete_cleanup_project in keystone/resource/core.py and
// the listeners of its notification). Trusts are marked as deleted, as Python
// does until they are flushed. A domain is a project as well.
func (r Revoker) ProjectDeleted(ctx context.Context, c db.Conn, projectID string) error {
	var b db.Batch
	b.Exec(`delete from assignment where target_id = $1 and type in ('UserProject', 'GroupProject')`, projectID)
	b.Exec(`delete from credential where project_id = $1`, projectID)
	b.Exec(`update trust set deleted_at = $2 where project_id = $1 and deleted_at is null`, projectID, r.Now().UTC())
	b.Exec(`delete from "limit" where project_id = $1`, projectID)
	b.Exec(`delete from project_endpoint where project_id = $1`, projectID)
	b.Exec(`delete from project_endpoint_group where project_id = $1`, projectID)
	b.Exec(`update "user" set default_project_id = null where default_project_id = $1`, projectID)
	r.Revoke(&b, Revocation{ProjectID: projectID})
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("remove what belongs to project %s: %w", projectID, err)
	}
	return nil
}
