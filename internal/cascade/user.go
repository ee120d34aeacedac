package cascade

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/db"
)

// UserDisabled removes what must not outlive the disabling of a user: his
// application credentials and access rules
// (keystone/application_credential/core.py).
func UserDisabled(ctx context.Context, c db.Conn, userID string) error {
	var b db.Batch
	b.Exec(`delete from application_credential where user_id = $1`, userID)
	b.Exec(`delete from access_rule where user_id = $1`, userID)
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("remove the application credentials of user %s: %w", userID, err)
	}
	return nil
}

// UserDeleted removes a user with what hangs on him, and voids his tokens
// (keystone/identity/core.py delete_user and the listeners of its
// notification). Trusts that he gave or was given are marked as deleted.
func (r Revoker) UserDeleted(ctx context.Context, c db.Conn, userID string) error {
	var b db.Batch
	b.Exec(`delete from user_group_membership where user_id = $1`, userID)
	b.Exec(`delete from expiring_user_group_membership where user_id = $1`, userID)
	b.Exec(`delete from password where local_user_id in (select l.id from local_user l where l.user_id = $1)`, userID)
	b.Exec(`delete from local_user where user_id = $1`, userID)
	b.Exec(`delete from nonlocal_user where user_id = $1`, userID)
	b.Exec(`delete from federated_user where user_id = $1`, userID)
	b.Exec(`delete from user_option where user_id = $1`, userID)
	b.Exec(`delete from "user" where id = $1`, userID)
	b.Exec(`delete from assignment where actor_id = $1 and type in ('UserProject', 'UserDomain')`, userID)
	b.Exec(`delete from system_assignment where actor_id = $1 and type = 'UserSystem'`, userID)
	b.Exec(`delete from credential where user_id = $1`, userID)
	b.Exec(`delete from id_mapping where public_id = $1`, userID)
	b.Exec(`update trust set deleted_at = $2 where (trustor_user_id = $1 or trustee_user_id = $1) and deleted_at is null`, userID, r.Now().UTC())
	b.Exec(`delete from application_credential where user_id = $1`, userID)
	b.Exec(`delete from access_rule where user_id = $1`, userID)
	r.Revoke(&b, Revocation{UserID: userID})
	if err := c.Send(ctx, &b); err != nil {
		return fmt.Errorf("remove user %s and what is his: %w", userID, err)
	}
	return nil
}
