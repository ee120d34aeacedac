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
