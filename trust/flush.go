// Package trust holds trusts (keystone/trust).
package trust

import (
	"context"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// FlushFilter picks trusts; an empty field picks any.
type FlushFilter struct{ ProjectID, TrustorUserID, TrusteeUserID string }

// Flush deletes the trusts that were deleted softly, and those that expired
// before the time, with their roles, and gives how many they were.
func Flush(ctx context.Context, d db.DB, before time.Time, f FlushFilter) (int64, error) {
	var w db.Where
	before = before.UTC()
	// Rows of old releases have no integer beside the time.
	w.And(`(deleted_at is not null or expires_at_int < ? or expires_at_int is null and expires_at < ?)`, before.UnixMicro(), before)
	for _, x := range []struct{ column, value string }{
		{"project_id", f.ProjectID}, {"trustor_user_id", f.TrustorUserID}, {"trustee_user_id", f.TrusteeUserID},
	} {
		if x.value != "" {
			w.And(x.column+` = ?`, x.value)
		}
	}
	var n int64
	err := d.Tx(ctx, func(c db.Conn) error {
		if _, err := c.Exec(ctx, `delete from trust_role where trust_id in (select id from trust`+w.String()+`)`, w.Args...); err != nil {
			return err
		}
		var err error
		n, err = c.Exec(ctx, `delete from trust`+w.String(), w.Args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("flush trusts: %w", err)
	}
	return n, nil
}
