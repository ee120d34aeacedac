package method

import (
	"cmp"
	"context"
	"errors"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/notify"
)

// told tells others what became of a password, once that is certain: a lock
// that falls meanwhile is seen by the second batch alone.
func (a *passwordAttempt) told(ctx context.Context, p *Proof, err error) {
	if !a.Notify.On() || a.fault != nil {
		return
	}
	if settled := p.Settled; err == nil && settled != nil {
		p.Settled = func(ctx context.Context) error {
			err := settled(ctx)
			a.tell(ctx, err)
			return err
		}
		return
	}
	a.tell(ctx, err)
}

// tell leaves out what is no judgement of a password: limits, full queues and
// faults. Nor does Python Keystone tell of users and domains that are disabled,
// but for a change of the password.
func (a *passwordAttempt) tell(ctx context.Context, err error) {
	f, refused := errors.AsType[*fault.Error](err)
	if err != nil && (!refused || f.Kind != fault.Unauthorized) {
		return
	}
	l := notify.Login{Failed: err != nil}
	user, _ := a.found()
	if user != nil {
		l.UserID, l.UserName = user.ID, user.Name
	} else {
		l.Unknown, l.UserID, l.UserName, l.DomainID, l.DomainName = true, a.id, a.name, a.domainID, a.domainName
	}
	if refused {
		switch f.Reason {
		case reasonLocked:
			l.Reason = &notify.Reason{Text: "The account is locked for user: " + l.UserID + ".", Code: "401"}
		case "password_expired":
			l.Reason = &notify.Reason{Text: f.Message, Code: "401"}
		case "wrong_password", "no_password":
			if a.Partial != nil && a.given && !a.expiredAllowed {
				l.Partial = a.Partial(a.password)
			}
		case "domain_disabled", "user_disabled":
			if !a.expiredAllowed {
				return
			}
		}
	}
	if l.Unknown && a.expiredAllowed {
		// A change names its user by id alone, and is told as one that failed.
		l.Unknown = false
	} else if l.Unknown {
		l.Reason = &notify.Reason{Text: "Could not find user: " + cmp.Or(a.name, a.id) + ".", Code: "404"}
	}
	a.Notify.LoggedIn(ctx, l)
}
