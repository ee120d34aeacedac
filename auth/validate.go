package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

var errNoSubject = fault.New(fault.NotFound, "No token in the request")

// Validate judges the tokens of a request, both in one round trip. The error
// is one of the database; what is wrong with a token stands in the Result.
func (s *Service) Validate(ctx context.Context, c Check) (Result, error) {
	var r Result
	caller := s.decodeCaller(c, &r)
	if r.Refused != nil {
		return r, nil
	}
	subject := s.decodeSubject(c, caller, &r)
	service := s.decodeService(c.Service)
	tokens := make([]*token.Token, 0, 3)
	for _, t := range []*token.Token{caller, subject, service} {
		if t != nil && !slices.Contains(tokens, t) {
			tokens = append(tokens, t)
		}
	}
	if len(tokens) == 0 {
		return r, nil
	}
	name := [...]string{nameIf(caller != nil, c.Caller), nameIf(subject != nil, c.Subject), nameIf(service != nil, c.Service), nameIf(c.Catalog, "catalog"), nameIf(c.CallerFull, "full")}
	rows, err := db.Recall(ctx, s.reads, name[:], func(b *db.Batch) live {
		return s.queueLive(b, tokens, func(t *token.Token) bool {
			scoped := t.System != "" || t.DomainID != "" || t.ProjectID != ""
			return scoped && (t == subject && c.Catalog || t == caller && c.CallerFull)
		})
	})
	if errors.Is(err, db.ErrBadValue) { // a forged id that no database can hold
		r.SubjectErr = errStale
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("validate a token: %w", err)
	}
	rows.tokens = tokens
	s.judge(c, caller, subject, rows, &r)
	if subject != nil && errors.Is(r.SubjectErr, errInactive) {
		if err := s.voidFor(ctx, subject.UserID); err != nil {
			return r, err
		}
	}
	if service != nil && r.Caller != nil {
		// One that is not valid is as good as none.
		id, err := s.identity(c.Service, service, rows, 0)
		s.Observer.Validated(validity(err))
		r.Caller.Service = id
	}
	return r, nil
}

func nameIf(is bool, name string) string {
	if is {
		return name
	}
	return ""
}

// voidFor writes down that a user was met disabled: should he be enabled again
// elsewhere, the tokens that he had stay void (keystone/token/provider.py,
// bug 2122615).
func (s *Service) voidFor(ctx context.Context, userID string) error {
	var b db.Batch
	s.revoker.Revoke(&b, cascade.Revocation{UserID: userID})
	if err := s.db.Send(ctx, &b); err != nil {
		return fmt.Errorf("revoke the tokens of a disabled user: %w", err)
	}
	return nil
}

func (s *Service) decodeService(id string) *token.Token {
	if id == "" {
		return nil
	}
	t, err := s.tokens.Decode(id)
	if err != nil || !served(t) {
		return nil
	}
	return t
}

func (s *Service) judge(c Check, caller, subject *token.Token, rows live, r *Result) {
	if caller != nil {
		id, err := s.identity(c.Caller, caller, rows, 0)
		s.Observer.Validated(validity(err))
		switch {
		case err == nil:
			r.Caller = id
		case !isStale(err):
			r.Refused = err
		}
	}
	if subject != nil {
		window := s.AllowExpiredWindow
		if !c.AllowExpired {
			window = 0
		}
		r.Subject, r.SubjectErr = s.identity(c.Subject, subject, rows, window)
		if subject != caller {
			s.Observer.Validated(validity(r.SubjectErr))
		}
	}
}

// decodeCaller gives nil for an anonymous caller. A token gained from an EC2
// signature may be validated and nothing else.
func (s *Service) decodeCaller(c Check, r *Result) *token.Token {
	if c.Caller == "" {
		return nil
	}
	if s.isAdminToken(c.Caller) {
		r.Caller = &Identity{AdminToken: true}
		return nil
	}
	t, err := c.Opened.token, error(nil)
	if t == nil || c.Opened.id != c.Caller {
		t, err = s.tokens.Decode(c.Caller)
	}
	if err != nil || !served(t) {
		return nil
	}
	if len(t.Methods) == 0 || slices.Contains(t.Methods, "ec2credential") {
		r.Refused = fault.Refused("A token gained from a signature may only be validated.")
		return nil
	}
	return t
}

func (s *Service) decodeSubject(c Check, caller *token.Token, r *Result) *token.Token {
	if c.Subject == "" {
		r.SubjectErr = errNoSubject
		return nil
	}
	if caller != nil && c.Subject == c.Caller {
		return caller
	}
	t, err := s.tokens.Decode(c.Subject)
	if err != nil {
		s.Observer.Validated(validity(err))
		r.SubjectErr = err
		return nil
	}
	if !served(t) {
		r.SubjectErr = errStale
		return nil
	}
	return t
}

func (s *Service) isAdminToken(id string) bool {
	return s.AdminToken != "" && subtle.ConstantTimeCompare([]byte(s.AdminToken), []byte(id)) == 1
}

// loadSource queues the reads of the token that a login is made with.
func (s *Service) loadSource(b *db.Batch, id string) func() (method.Held, error) {
	t, err := s.tokens.Decode(id)
	if err == nil && !served(t) {
		err = errStale
	}
	if err != nil {
		return func() (method.Held, error) { return method.Held{Token: t}, err }
	}
	rows := s.queueLive(b, []*token.Token{t}, func(*token.Token) bool { return false })
	options := db.Add(b, identity.OptionsOf(t.UserID))
	return func() (method.Held, error) {
		if _, err := s.identity(id, t, rows, 0); err != nil {
			return method.Held{}, err
		}
		account, err := rows.account(t.UserID)
		return method.Held{Token: t, Account: account, Options: identity.OptionsFrom(options.All())}, err
	}
}
