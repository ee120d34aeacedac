package method

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Hasher is what the method needs of the hashing gate.
type Hasher interface {
	Verify(ctx context.Context, stored, password string) (bool, error)
	Dummy(ctx context.Context, password string) error
	CheckLength(password string) error
}

// Password is the method "password" (keystone/auth/plugins/password.py).
type Password struct {
	DB       db.DB
	Hasher   Hasher
	Guard    lockout.Guard
	Limit    *ratelimit.Limiter   // per user; nil: none
	Asked    func(outcome string) // told what Limit says, for metrics; nil: nobody is
	IdleDays *int
	Now      func() time.Time
}

// Parse reads {"user": {"id" | "name" and "domain", "password"}}.
func (m Password) Parse(payload pyjson.Object, _ Wanted) Attempt {
	user, ok := payload.Object("user")
	if !ok {
		return m.faulty(fault.Invalid("user", "None"))
	}
	a := &passwordAttempt{Password: m}
	a.id, _ = user.String("id")
	a.name, _ = user.String("name")
	a.password, a.given = user.String("password")
	if a.name == "" {
		if a.id == "" {
			return m.faulty(fault.Invalid("id or name", "user"))
		}
		return a
	}
	domain, ok := user.Object("domain")
	if !ok {
		return m.faulty(fault.Invalid("domain", "user"))
	}
	a.domainID, _ = domain.String("id")
	a.domainName, _ = domain.String("name")
	if a.domainID == "" && a.domainName == "" {
		return m.faulty(fault.Invalid("id or name", "domain"))
	}
	return a
}

// ForUser is an attempt on the user of an id with a password.
func (m Password) ForUser(id, password string) Attempt {
	return &passwordAttempt{Password: m, id: id, password: password, given: true, expiredAllowed: true}
}

func (m Password) faulty(err error) Attempt { return &passwordAttempt{Password: m, fault: err} }

type passwordAttempt struct {
	Password
	fault                          error
	id, name, domainID, domainName string
	password                       string
	given                          bool // the body held a password
	expiredAllowed                 bool

	account *db.Result[identity.Account]
	options *db.Result[identity.Option]
}

// Queue reads the account and its options; a text that no database holds names
// no user, without asking.
func (a *passwordAttempt) Queue(b *db.Batch) {
	if a.fault != nil || strings.ContainsRune(a.id+a.name+a.domainID+a.domainName, 0) {
		return
	}
	switch {
	case a.name == "":
		a.account, a.options = db.Add(b, identity.AccountByID(a.id)), db.Add(b, identity.OptionsOf(a.id))
	case a.domainName != "":
		a.account = db.Add(b, identity.AccountByNames(a.name, a.domainName))
		a.options = db.Add(b, identity.OptionsByNames(a.name, a.domainName))
	default:
		a.account = db.Add(b, identity.AccountByName(a.name, a.domainID))
		a.options = db.Add(b, identity.OptionsByName(a.name, a.domainID))
	}
}

// Waste computes one hash of the configured scheme and cost.
func (a *passwordAttempt) Waste(ctx context.Context) error {
	if a.fault != nil {
		return nil
	}
	return a.Hasher.Dummy(ctx, a.password)
}

// refuse is the bare 401 after one dummy hash.
func (a *passwordAttempt) refuse(ctx context.Context, refusal *fault.Error) error {
	if err := a.Waste(ctx); err != nil {
		return err
	}
	return refusal
}

// reasonLocked is what metrics show of a locked account.
const reasonLocked = "locked"

// Verify is the order that the project exists for: user, per-user limiter,
// lockout, hash, bookkeeping.
func (a *passwordAttempt) Verify(ctx context.Context) (Proof, error) {
	if a.fault != nil {
		return Proof{}, a.fault
	}
	if err := a.Hasher.CheckLength(a.password); err != nil {
		return Proof{}, err // before the user is known: a refusal tells nothing of him
	}
	user, err := a.found()
	if err != nil {
		return Proof{}, err
	}
	if user == nil {
		return Proof{}, a.refuse(ctx, fault.Denied("Could not find the user.").Because("unknown_user"))
	}
	key := a.Limit.Text(user.ID)
	if err := a.limit(ctx, key); err != nil {
		return Proof{}, err
	}
	options := identity.OptionsFrom(a.options.All())
	if refusal := a.barred(*user); refusal != nil {
		return Proof{}, a.refuse(ctx, refusal)
	}
	state := lockout.State{
		LocalID: user.LocalID, Failures: user.FailedAuthCount, FailedAt: user.FailedAuthAt,
		Exempt: options.On(identity.OptionIgnoreLockout),
	}
	if state, err = a.checkLock(ctx, state); err != nil {
		return Proof{}, err
	}
	if err := a.compare(ctx, *user, state); err != nil {
		return Proof{}, err
	}
	if err := a.Limit.Refund(ctx, key); err != nil {
		return Proof{}, err
	}
	if !a.expiredAllowed && user.Password.Expired(a.Now().UTC()) && !options.On(identity.OptionIgnoreExpiry) {
		if err := a.stillOpen(ctx, state); err != nil {
			return Proof{}, err
		}
		return Proof{}, fault.New(fault.Unauthorized, "The password is expired and needs to be changed for user: %s.", user.ID).Because("password_expired")
	}
	return a.succeed(ctx, *user, options, state)
}

// found gives the account, or nil for a user who does not exist.
func (a *passwordAttempt) found() (*identity.Account, error) {
	if a.account == nil {
		return nil, nil
	}
	user, err := a.account.One()
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &user, err
}

func (a *passwordAttempt) limit(ctx context.Context, key ratelimit.Key) error {
	d, err := a.Limit.Take(ctx, key)
	outcome := "allowed"
	switch {
	case err != nil:
		outcome = "error"
	case !d.Allowed:
		outcome = "rejected"
		err = &fault.Error{Kind: fault.TooMany, Message: ratelimit.Refusal, RetryAfter: d.Retry}
	}
	if a.Limit != nil && a.Asked != nil {
		a.Asked(outcome)
	}
	return err
}

// barred says why an account may not log in whatever its password.
func (a *passwordAttempt) barred(user identity.Account) *fault.Error {
	switch {
	case user.Domain.ID == "" || !user.Domain.Enabled:
		return fault.Denied("The user's domain is disabled.").Because("domain_disabled")
	case !user.Active(a.Now().UTC(), a.IdleDays):
		return fault.Denied("The user is disabled.").Because("user_disabled")
	case user.LocalID == 0:
		return fault.Denied("The user's password is not kept here.").Because("no_password")
	}
	return nil
}

// checkLock refuses a locked account and clears a lock that has run out.
func (a *passwordAttempt) checkLock(ctx context.Context, s lockout.State) (lockout.State, error) {
	if a.Guard.Locked(s) {
		return s, a.refuse(ctx, fault.Denied("The account is locked.").Because(reasonLocked))
	}
	if a.Guard.Expired(s) {
		if err := a.Guard.Release(ctx, a.DB, s); err != nil {
			return s, err
		}
		s.Failures, s.FailedAt = 0, nil
	}
	return s, nil
}

// compare tells whether the password is right, and counts one that is wrong:
// none given and none stored are wrong too.
func (a *passwordAttempt) compare(ctx context.Context, user identity.Account, s lockout.State) error {
	var right bool
	var err error
	if a.given && user.Password.Hash != "" {
		right, err = a.Hasher.Verify(ctx, user.Password.Hash, a.password)
	} else {
		err = a.Waste(ctx)
	}
	if err != nil {
		return err
	}
	if right {
		return nil
	}
	// The answer to a wrong password must not depend on the client staying.
	if err := a.Guard.Fail(context.WithoutCancel(ctx), a.DB, s); err != nil {
		return err
	}
	return fault.Denied("The password is wrong.").Because("wrong_password")
}

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
func (a *passwordAttempt) succeed(ctx context.Context, user identity.Account, o identity.Options, s lockout.State) (Proof, error) {
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
		p.recheck(a, s)
	}
	return p, nil
}

func (p *Proof) recheck(a *passwordAttempt, s lockout.State) {
	var now *db.Result[lockout.State]
	p.Settle = func(b *db.Batch) { now = db.Add(b, a.Guard.Recheck(s)) }
	p.Settled = func(ctx context.Context) error {
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
}

func sameDay(a, b time.Time) bool {
	y1, m1, d1 := a.Date()
	y2, m2, d2 := b.Date()
	return y1 == y2 && m1 == m2 && d1 == d2
}
