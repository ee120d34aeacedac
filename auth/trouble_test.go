package auth_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

// TestBusy: when the hashing gate turns a login away, that is the answer,
// whoever it is for, and nothing is counted.
func TestBusy(t *testing.T) {
	each(t, world{attempts: ptr(3), duration: time.Hour}, func(s *stand) {
		s.failures("ben", 3, noon)
		s.hash.fail = &passhash.Busy{RetryAfter: time.Second}
		for what, try := range map[string]func() error{
			"right":        func() error { _, err := s.try(byPassword(s.ids["ana"], "ana", onP1)); return err },
			"wrong":        func() error { _, err := s.try(byPassword(s.ids["ana"], "wrong", onP1)); return err },
			"unknown user": func() error { _, err := s.try(byPassword("nobody", "x", onP1)); return err },
			"locked":       func() error { _, err := s.try(byPassword(s.ids["ben"], "ben", unscoped)); return err },
			"disabled":     func() error { _, err := s.try(byPassword(s.ids["cyd"], "cyd", unscoped)); return err },
			"unknown scope": func() error {
				_, err := s.try(byPassword(s.ids["ana"], "ana", `{"project": {"id": "none"}}`))
				return err
			},
			"own password":  func() error { return s.change(s.ids["ana"], "ana", "new") },
			"id of no text": func() error { return s.change("\xff", "ana", "new") },
		} {
			s.quiet()
			if _, ok := errors.AsType[*passhash.Busy](try()); !ok {
				s.Errorf("%s: the refusal of the gate is not the answer", what)
			}
			if s.db.Writes != 0 {
				s.Errorf("%s: %d writes", what, s.db.Writes)
			}
		}
		if a := s.account("ana"); a.FailedAuthCount != 0 {
			s.Errorf("%d failures", a.FailedAuthCount)
		}
	})
}

// TestClientLeaves: a client that hangs up while his password is compared is
// counted all the same.
func TestClientLeaves(t *testing.T) {
	each(t, world{attempts: ptr(3), duration: time.Hour}, func(s *stand) {
		ctx, cancel := context.WithCancel(s.Context())
		s.hash.during = cancel
		if _, err := s.auth.Authenticate(ctx, s.parse(byPassword(s.ids["ana"], "wrong", onP1))); message(err) != bare {
			s.Errorf("got %v", err)
		}
		if a := s.account("ana"); a.FailedAuthCount != 1 {
			s.Errorf("%d failures, want 1", a.FailedAuthCount)
		}
	})
}

// TestDatabaseGone is no fault that a client is shown, and never a login.
func TestDatabaseGone(t *testing.T) {
	each(t, world{}, func(s *stand) {
		held := s.token("ana", onP1)
		gone, cancel := context.WithCancel(s.Context())
		cancel()
		for what, err := range map[string]error{
			"login":          second(s.auth.Authenticate(gone, s.parse(byPassword(s.ids["ana"], "ana", onP1)))),
			"login by token": second(s.auth.Authenticate(gone, s.parse(byToken(held.ID, unscoped)))),
			"change":         s.auth.ChangePassword(gone, s.users, auth.Change{UserID: s.ids["ana"], Original: "ana", Password: "new"}),
			"validation":     second(s.auth.Validate(gone, auth.Check{Caller: held.ID, Subject: held.ID})),
			"revocation":     s.auth.Revoke(gone, held, true),
		} {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("%s: got %v", what, err)
			}
		}
		if _, err := s.subject(held.ID); err != nil {
			s.Errorf("the token afterwards: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestOpened: a token that was opened is judged as one that was not, and stands
// for no other text than its own.
func TestOpened(t *testing.T) {
	each(t, world{}, func(s *stand) {
		held, other := s.token("ana", onP1), s.token("ben", unscoped)
		opened, ours := s.auth.Decodes(held.ID)
		if !ours {
			s.Fatal("a token is not known")
		}
		for text, want := range map[string]string{held.ID: s.ids["ana"], other.ID: s.ids["ben"], "garbage": "", "": ""} {
			r, err := s.auth.Validate(s.Context(), auth.Check{Caller: text, Opened: opened})
			if got := r.Caller; err != nil || (got == nil) != (want == "") || got != nil && got.User.ID != want {
				s.Errorf("%.20q: got %+v, %v", text, got, err)
			}
		}
		s.must(s.auth.Revoke(s.Context(), held, true))
		if r, err := s.auth.Validate(s.Context(), auth.Check{Caller: held.ID, Opened: opened}); err != nil || r.Caller != nil {
			s.Errorf("revoked since: got %+v, %v", r.Caller, err)
		}
	})
}

// TestDecodes asks no database, and knows a token of this cloud by its seal.
func TestDecodes(t *testing.T) {
	each(t, world{Config: auth.Config{AdminToken: "sesame"}}, func(s *stand) {
		held := s.token("ana", onP1)
		s.must(s.auth.Revoke(s.Context(), held, true))
		s.quiet()
		for text, want := range map[string]bool{held.ID: true, "sesame": true, "": false, "garbage": false, held.ID + "x": false} {
			if _, got := s.auth.Decodes(text); got != want {
				s.Errorf("Decodes(%.20q) = %v, want %v", text, got, want)
			}
		}
		s.clock = held.Token.ExpiresAt
		if _, ours := s.auth.Decodes(held.ID); ours {
			s.Error("a token past its life decodes")
		}
		if s.db.RoundTrips != 0 {
			s.Errorf("%d round trips", s.db.RoundTrips)
		}
	})
}
