// Package cascade holds what else must change in the database when a user,
// group, project, domain or role does. Its statements run in the caller's
// transaction.
package cascade

import (
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Revocation is a row of revocation_event: every token that matches all of
// its set attributes and was issued before it is void
// (keystone/models/revoke_model.py). Empty means any.
type Revocation struct {
	UserID, ProjectID, TrustID, AuditID string
	// AuditChainID voids the tokens that were made from the token of this
	// audit id.
	AuditChainID string
}

// Revoker writes revocation events.
type Revoker struct {
	// Keep is how long an event stays: [token] expiration plus [revoke]
	// expiration_buffer.
	Keep time.Duration
	Now  func() time.Time
}

// Revoke queues the event and the pruning of old ones, as Python does on each
// insert (keystone/revoke/backends/sql.py).
func (r Revoker) Revoke(b *db.Batch, e Revocation) {
	now := r.Now().UTC().Truncate(time.Second)
	b.Exec(`insert into revocation_event (user_id, project_id, trust_id, audit_id, audit_chain_id, issued_before, revoked_at)
values ($1, $2, $3, $4, $5, $6, $7)`, null(e.UserID), null(e.ProjectID), null(e.TrustID), null(e.AuditID), null(e.AuditChainID), now, now)
	b.Exec(`delete from revocation_event where revoked_at < $1`, now.Add(-r.Keep))
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
