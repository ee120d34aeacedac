package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// Change is a user's own change of his password.
type Change struct {
	UserID, Original, Password string
	Client                     guess.Client
}

// ChangePassword sets a user's own password: the present one, which may have
// expired, is proved as in a login (keystone/api/users.py).
func (s *Service) ChangePassword(ctx context.Context, users PasswordChanger, c Change) error {
	proof, err := s.proveOriginal(ctx, c)
	s.Observer.Login("password_change", outcome(err), reason(err))
	if err != nil {
		return err
	}
	return users.ChangePassword(ctx, proof.Account, proof.Options, c.Password)
}

// proveOriginal is the part of ChangePassword that is a login.
func (s *Service) proveOriginal(ctx context.Context, c Change) (method.Proof, error) {
	start, a := s.evening.now(), s.password.ForUser(c.UserID, c.Original, c.Client)
	proof, err := s.original(ctx, a)
	s.evening.even(ctx, start, []method.Attempt{a}, err)
	return proof, err
}

func (s *Service) original(ctx context.Context, a method.Attempt) (method.Proof, error) {
	var b db.Batch
	a.Queue(&b)
	if b.Len() > 0 {
		err := s.db.Send(ctx, &b)
		if errors.Is(err, db.ErrBadValue) { // an id that no database can hold
			return method.Proof{}, s.waste(ctx, []method.Attempt{a}, fault.Denied("Could not find the user.").Because("unknown_user"))
		}
		if err != nil {
			return method.Proof{}, fmt.Errorf("read the account of a password change: %w", err)
		}
	}
	proof, err := a.Verify(ctx)
	if err == nil {
		err = s.settled(ctx, proof, nil)
	}
	return proof, err
}
