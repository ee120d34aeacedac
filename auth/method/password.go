package method

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
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
	Guesses  *guess.Guard // nil: none is limited
	IdleDays *int
	Now      func() time.Time
	Notify   *notify.Notifier // told of right and wrong passwords
	// Partial makes what is told of a wrong password; nil tells nothing of it.
	Partial func(password string) string
}

// Parse reads {"user": {"id" | "name" and "domain", "password"}}.
func (m Password) Parse(payload pyjson.Object, w Wanted) Attempt {
	user, ok := payload.Object("user")
	if !ok {
		return m.faulty(fault.Invalid("user", "None"))
	}
	a := &passwordAttempt{Password: m, client: w.Client}
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
func (m Password) ForUser(id, password string, from guess.Client) Attempt {
	return &passwordAttempt{Password: m, client: from, id: id, password: password, given: true, expiredAllowed: true}
}

func (m Password) faulty(err error) Attempt { return &passwordAttempt{Password: m, fault: err} }

type passwordAttempt struct {
	Password
	fault                          error
	id, name, domainID, domainName string
	password                       string
	given                          bool // the body held a password
	expiredAllowed                 bool
	client                         guess.Client

	account *db.Result[identity.Account]
	options *db.Result[identity.Option]
	domain  *db.Result[resource.Domain] // of a domain's name, where its id must be known
	spent   Spent
}

// Spent tells what the attempt took; one whose body was bad verified nothing.
func (a *passwordAttempt) Spent() Spent {
	a.spent.Secret = a.fault == nil
	return a.spent
}

// hash measures the work of the hashing gate.
func (a *passwordAttempt) hash(work func() error) error {
	start := ratelimit.Monotonic()
	defer func() { a.spent.Hashing += ratelimit.Monotonic() - start }()
	return work()
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
		if a.Guesses.Twins() {
			a.domain = db.Add(b, resource.DomainByName(a.domainName))
		}
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
	return a.hash(func() error { return a.Hasher.Dummy(ctx, a.password) })
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

// Verify is the order that the project exists for: user, limits of guesses,
// lockout, hash, bookkeeping.
func (a *passwordAttempt) Verify(ctx context.Context) (Proof, error) {
	p, err := a.verify(ctx)
	a.told(ctx, &p, err)
	return p, err
}

func (a *passwordAttempt) verify(ctx context.Context) (Proof, error) {
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
	try, err := a.begin(ctx, user)
	if err != nil {
		return Proof{}, err
	}
	p, err := a.judge(ctx, user, try)
	if _, busy := errors.AsType[*passhash.Busy](err); busy {
		try.Drop(ctx)
	} else if _, refused := errors.AsType[*fault.Error](err); refused {
		try.Wrong(ctx)
	}
	return p, err
}

// begin charges the limits of guesses. A user has one bucket however he is
// named, and by any method; so has a name that nobody has.
func (a *passwordAttempt) begin(ctx context.Context, user *identity.Account) (*guess.Try, error) {
	if user != nil {
		return a.Guesses.Begin(ctx, a.client, guess.Secret{Who: user.ID, Known: true, Guess: a.password})
	}
	who := a.id
	if a.name != "" {
		who = guess.Name(a.domainID, a.name)
	}
	if a.name != "" && a.domainName != "" {
		who = guess.Homeless(a.domainName, a.name)
		if a.domain != nil {
			d, err := a.domain.One()
			switch {
			case err == nil:
				who = guess.Name(d.ID, a.name)
			case !errors.Is(err, db.ErrNoRow):
				return nil, err
			}
		}
	}
	return a.Guesses.Begin(ctx, a.client, guess.Secret{Who: who, Guess: a.password})
}

// judge decides a try that was let through.
func (a *passwordAttempt) judge(ctx context.Context, user *identity.Account, try *guess.Try) (Proof, error) {
	if user == nil {
		return Proof{}, a.refuse(ctx, fault.Denied("Could not find the user.").Because("unknown_user"))
	}
	options := identity.OptionsFrom(a.options.All())
	if refusal := a.barred(*user); refusal != nil {
		return Proof{}, a.refuse(ctx, refusal)
	}
	state := lockout.State{
		LocalID: user.LocalID, Failures: user.FailedAuthCount, FailedAt: user.FailedAuthAt,
		Exempt: options.On(identity.OptionIgnoreLockout),
	}
	state, err := a.checkLock(ctx, state)
	if err != nil {
		return Proof{}, err
	}
	if err := a.compare(ctx, *user, state); err != nil {
		return Proof{}, err
	}
	if !a.expiredAllowed && user.Password.Expired(a.Now().UTC()) && !options.On(identity.OptionIgnoreExpiry) {
		if err := a.stillOpen(ctx, state); err != nil {
			return Proof{}, err
		}
		try.Right(ctx)
		return Proof{}, fault.New(fault.Unauthorized, "The password is expired and needs to be changed for user: %s.", user.ID).Because("password_expired")
	}
	return a.succeed(ctx, *user, options, state, try)
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
		err = a.hash(func() (err error) {
			right, err = a.Hasher.Verify(ctx, user.Password.Hash, a.password)
			return err
		})
	} else {
		err = a.Waste(ctx)
	}
	if err != nil {
		return err
	}
	if right {
		return nil
	}
	a.spent.Counted = true
	// The answer to a wrong password must not depend on the client staying.
	if err := a.Guard.Fail(context.WithoutCancel(ctx), a.DB, s); err != nil {
		return err
	}
	return fault.Denied("The password is wrong.").Because("wrong_password")
}
