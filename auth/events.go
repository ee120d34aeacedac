package auth

import (
	"context"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Events lists the revocation events, the oldest first, as Python Keystone shows
// them; those that were written after a time, where one is given
// (keystone/revoke/backends/sql.py).
func Events(ctx context.Context, c db.Conn, after *time.Time) ([]pyjson.Object, error) {
	var w db.Where
	if after != nil {
		w.And(`r.revoked_at > ?`, *after)
	}
	events, err := db.All(ctx, c, db.Query[pyjson.Object]{
		Text: `select r.user_id, r.role_id, r.domain_id, r.project_id, r.audit_id, r.audit_chain_id, r.trust_id, r.consumer_id, r.access_token_id, r.expires_at, r.issued_before, r.revoked_at
from revocation_event r` + w.String() + ` order by r.revoked_at, r.id`,
		Args: w.Args, Scan: scanShownEvent,
	})
	return events, fault.Wrap(err, "list", "revocation events")
}

// scanShownEvent reads an event as RevokeEvent.to_dict shows it: without what it
// leaves open (keystone/models/revoke_model.py).
func scanShownEvent(r db.Row) (pyjson.Object, error) {
	names := []string{
		"user_id", "role_id", "domain_id", "project_id", "audit_id", "audit_chain_id",
		"OS-TRUST:trust_id", "OS-OAUTH1:consumer_id", "OS-OAUTH1:access_token_id",
	}
	values := make([]*string, len(names))
	var expires *time.Time
	var issued, revoked time.Time
	dest := make([]any, 0, len(names)+3)
	for i := range values {
		dest = append(dest, &values[i])
	}
	if err := r.Scan(append(dest, &expires, &issued, &revoked)...); err != nil {
		return nil, err
	}
	var out pyjson.Object
	for i, name := range names {
		if values[i] == nil {
			continue
		}
		if name == "domain_id" && expires != nil {
			name = "domain_scope_id" // of the tokens for a domain that end then
		}
		out = append(out, pyjson.Member{Key: name, Value: *values[i]})
	}
	if expires != nil {
		out = append(out, pyjson.Member{Key: "expires_at", Value: expires.UTC().Format(time.RFC3339)})
	}
	return append(out,
		pyjson.Member{Key: "issued_before", Value: isoZ(issued.Truncate(time.Second))},
		pyjson.Member{Key: "revoked_at", Value: isoZ(revoked.Truncate(time.Second))}), nil
}
