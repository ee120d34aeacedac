package method

import (
	"context"
	"errors"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/lockout"
)

// stillOpen refuses a right password that guesses beside it have locked; it
// clears nothing.
func (a *passwordAttempt) stillOpen(ctx context.Context, s lockout.State) error {
	if a.Guard.Policy.Attempts == nil || s.Exempt {
		return nil
	}
	now, err := db.One(ctx, a.DB, a.Guard.Recheck(s))
	if err != nil {
		return err
	}
	if a.Guard.Locked(now) {
		return fault.Denied("The account was locked meanwhile.").Because(reasonLocked)
	}
	return nil
}

// succeed forgets the failures and notes the day, where there is anything to
// write. A right password with nothing to clear is held against the count
// once more in the second batch: guesses beside it may have locked the account.
// The try was right only when none of that stands against it: what a success
// gives back would tell of a right password in a locked account.
func (a *passwordAttempt) succeed(ctx context.Context, user identity.Account, o identity.Options, s lockout.State, try *guess.Try) (Proof, error) {
	p := Proof{Account: user, Options: o, Methods: []string{"password"}}
	today := a.Now().UTC()
	var b db.Batch
	var cleared *db.Affected
	if s.Failures > 0 {
		cleared = a.Guard.Clear(&b, s)
	}
	if user.LastActiveAt == nil || !sameDay(*user.LastActiveAt, today) {
		b.Exec(`update "user" set last_active_at = $1 where id = $2`, db.Date(today), user.ID)
	}
	if b.Len() > 0 {
		if err := a.DB.Send(context.WithoutCancel(ctx), &b); err != nil {
			return p, err
		}
	}
	if cleared != nil && cleared.Rows() == 0 {
		return p, fault.Denied("The account was locked meanwhile.").Because(reasonLocked)
	}
	if cleared == nil && a.Guard.Policy.Attempts != nil && !s.Exempt {
		p.recheck(a, s, try)
		return p, nil
	}
	try.Right(ctx)
	return p, nil
}

// recheck lets the second batch decide whether the proof stands.
func (p *Proof) recheck(a *passwordAttempt, s lockout.State, try *guess.Try) {
	var now *db.Result[lockout.State]
	p.Settle = func(b *db.Batch) { now = db.Add(b, a.Guard.Recheck(s)) }
	p.Settled = func(ctx context.Context) error {
		err := a.settled(ctx, now)
		if _, refused := errors.AsType[*fault.Error](err); refused {
			try.Wrong(ctx)
		} else if err == nil {
			try.Right(ctx)
		}
		return err
	}
}

// settled judges the count as it is now.
func (a *passwordAttempt) settled(ctx context.Context, now *db.Result[lockout.State]) error {
	state, err := now.One()
	switch {
	case errors.Is(err, db.ErrNoRow):
		return fault.Denied("The user is gone.").Because("unknown_user")
	case err != nil:
		return err
	case a.Guard.Locked(state):
		return fault.Denied("The account was locked meanwhile.").Because(reasonLocked)
	case state.Failures == 0:
		return nil
	}
	var b db.Batch
	cleared := a.Guard.Clear(&b, state)
	if err := a.DB.Send(context.WithoutCancel(ctx), &b); err != nil {
		return err
	}
	if cleared.Rows() == 0 {
		return fault.Denied("The account was locked meanwhile.").Because(reasonLocked)
	}
	return nil
}

func sameDay(a, b time.Time) bool {
	y1, m1, d1 := a.Date()
	y2, m2, d2 := b.Date()
	return y1 == y2 && m1 == m2 && d1 == d2
}
