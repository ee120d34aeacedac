package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
)

// event is a row of revocation_event; nil matches any token.
type event struct {
	domainID, projectID, userID, roleID, trustID *string
	consumerID, auditID, auditChainID            *string
	issuedBefore                                 time.Time
	expiresAt                                    *time.Time
}

// eventsFor reads the events that may concern the tokens: what SQL can decide
// for all of them at once, matched in full by revoked.
func eventsFor(tokens []*token.Token) db.Query[event] {
	oldest := tokens[0].IssuedAt
	var users, projects, audits []string
	for _, t := range tokens {
		if t.IssuedAt.Before(oldest) {
			oldest = t.IssuedAt
		}
		users, projects = addOnce(users, t.UserID), addOnce(projects, t.ProjectID)
		if len(t.AuditIDs) > 0 {
			audits = addOnce(audits, t.AuditIDs[0])
		}
	}
	args := []any{oldest}
	null := func(column string, values []string) string {
		if len(values) == 0 {
			return ` and r.` + column + ` is null`
		}
		in := db.In(len(values), len(args)+1)
		for _, v := range values {
			args = append(args, v)
		}
		return ` and (r.` + column + ` is null or r.` + column + ` in ` + in + `)`
	}
	text := `select r.domain_id, r.project_id, r.user_id, r.role_id, r.trust_id, r.consumer_id, r.audit_id, r.audit_chain_id, r.issued_before, r.expires_at
from revocation_event r where r.issued_before >= $1` +
		null("user_id", users) + null("project_id", projects) + null("audit_id", audits) + null("trust_id", nil)
	return db.Query[event]{Text: text, Args: args, Scan: scanEvent}
}

func scanEvent(r db.Row) (event, error) {
	var e event
	err := r.Scan(&e.domainID, &e.projectID, &e.userID, &e.roleID, &e.trustID, &e.consumerID, &e.auditID, &e.auditChainID, &e.issuedBefore, &e.expiresAt)
	return e, err
}

func revoked(events []event, id *Identity) bool {
	for _, e := range events {
		if e.matches(id) {
			return true
		}
	}
	return false
}

// matches holds all that is set in the event against the token
// (keystone/models/revoke_model.py). An event of the very second of the
// token's issue counts.
func (e event) matches(id *Identity) bool {
	t := id.Token
	var own, parent string
	if len(t.AuditIDs) > 0 {
		own = t.AuditIDs[0]
	}
	if len(t.AuditIDs) > 1 {
		parent = t.AuditIDs[1]
	}
	switch {
	case e.issuedBefore.Before(t.IssuedAt),
		differs(e.userID, t.UserID),
		differs(e.projectID, t.ProjectID),
		differs(e.auditID, own),
		differs(e.auditChainID, parent),
		e.trustID != nil, e.consumerID != nil,
		e.roleID != nil && !id.hasRole(*e.roleID),
		e.expiresAt != nil && !e.expiresAt.Equal(t.ExpiresAt.Truncate(time.Second)):
		return false
	}
	switch {
	case e.domainID == nil:
		return true
	case e.expiresAt != nil:
		return *e.domainID == t.DomainID
	}
	return *e.domainID == id.User.DomainID || *e.domainID == t.DomainID
}

func differs(want *string, got string) bool { return want != nil && *want != got }

func (id *Identity) hasRole(roleID string) bool {
	for _, r := range id.Roles {
		if r.ID == roleID {
			return true
		}
	}
	return false
}

// Revoke voids one token by its audit id and, with chain, the tokens that were
// made from it (keystone/token/provider.py revoke_token).
func (s *Service) Revoke(ctx context.Context, id *Identity, chain bool) error {
	if len(id.Token.AuditIDs) == 0 {
		return fmt.Errorf("revoke a token: it has no audit id")
	}
	var b db.Batch
	own := id.Token.AuditIDs[0]
	s.revoker.Revoke(&b, cascade.Revocation{AuditID: own})
	if chain {
		s.revoker.Revoke(&b, cascade.Revocation{AuditChainID: own})
	}
	if err := s.db.Send(ctx, &b); err != nil {
		return fmt.Errorf("revoke a token: %w", err)
	}
	s.Observer.Revoked()
	return nil
}
