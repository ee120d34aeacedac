package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// ResetLastActive counts every user who was never seen as seen on the day of
// now, and gives how many they were: the days that
// disable_user_account_days_inactive counts begin anew for them.
func ResetLastActive(ctx context.Context, c db.Conn, now time.Time) (int64, error) {
	n, err := c.Exec(ctx, `update "user" set last_active_at = $1 where last_active_at is null`, db.Date(now.UTC()))
	if err != nil {
		return 0, fmt.Errorf("reset the last activity: %w", err)
	}
	return n, nil
}

// MappingFilter picks rows of id_mapping; an empty field picks any.
type MappingFilter struct{ DomainID, PublicID, LocalID, Type string }

// PurgeMappings deletes the ids that stand for users and groups of another
// source, and gives how many they were; they are made again, and are the same
// again, when the source shows them.
func PurgeMappings(ctx context.Context, c db.Conn, f MappingFilter) (int64, error) {
	var w db.Where
	for _, x := range []struct{ column, value string }{
		{"domain_id", f.DomainID}, {"public_id", f.PublicID}, {"local_id", f.LocalID}, {"entity_type", f.Type},
	} {
		if x.value != "" {
			w.And(x.column+` = ?`, x.value)
		}
	}
	n, err := c.Exec(ctx, `delete from id_mapping`+w.String(), w.Args...)
	if err != nil {
		return 0, fmt.Errorf("purge id mappings: %w", err)
	}
	return n, nil
}
