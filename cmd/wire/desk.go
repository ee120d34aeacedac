package wire

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// desk tells administrators how the limits of the current App stand, and gives
// quotas back.
type desk struct{ face *face }

var errNoApp = errors.New("there is no server yet")

func (d desk) app() (*App, error) {
	if a := d.face.app.Load(); a != nil {
		return a, nil
	}
	return nil, errNoApp
}

// keyed is what the keys of a limiter are made of.
type keyed string

const (
	byAddress   keyed = "address"
	byUser      keyed = "user"
	byPair      keyed = "user and address"
	byPrincipal keyed = "principal"
	byClient    keyed = "client"
	byName      keyed = "unknown name"
	byPassword  keyed = "password"
)

// keyedBy tells by a limiter's name what its keys are made of.
func keyedBy(name string) keyed {
	switch name {
	case ratelimit.UserAuth:
		return byUser
	case ratelimit.Decoy:
		return byName
	case ratelimit.TrustedPair, ratelimit.FailedPair, ratelimit.FailedPairWide:
		return byPair
	case ratelimit.SprayPassword:
		return byPassword
	case ratelimit.SignedIn:
		return byPrincipal
	}
	switch {
	case strings.HasSuffix(name, ".per_principal"):
		return byPrincipal
	case strings.HasSuffix(name, ".per_client"):
		return byClient
	}
	return byAddress
}

// Limiters lists what is on.
func (d desk) Limiters(_ context.Context, top int) ([]ops.LimiterView, error) {
	a, err := d.app()
	if err != nil {
		return nil, err
	}
	all := a.Limits.All()
	out := make([]ops.LimiterView, len(all))
	for i, l := range all {
		s, q := l.Stats(), l.Quota()
		out[i] = ops.LimiterView{
			Name: l.Name(), Mode: string(l.Mode()), Backend: a.backend, Keyed: string(keyedBy(l.Name())),
			Burst: q.Burst, Rate: q.Rate, Period: q.Period.String(),
			Entries: s.Entries, Capacity: s.Capacity, Allowed: s.Allowed, Refused: s.Refused, Evictions: s.EvictedLive,
			Debtors: make([]ops.Debtor, 0, top),
		}
		for _, t := range l.Top(top) {
			out[i].Debtors = append(out[i].Debtors, ops.Debtor{
				Key: a.shown(l, t.Key), Debt: t.Debt, Retry: t.Retry.Seconds(), Reset: t.Reset.Seconds(),
			})
		}
	}
	return out, nil
}

// shown is what stands for a key: its hash, unless it is an address and the
// configuration lets addresses be shown.
func (a *App) shown(l *ratelimit.Limiter, k ratelimit.Key) string {
	b := k.Bytes()
	if keyedBy(l.Name()) == byAddress && a.refusals.ClearAddresses() {
		return netip.AddrFrom16(b).Unmap().String()
	}
	return a.refusals.Digest(b[:])
}

// bucket is a key of a limiter.
type bucket struct {
	limiter *ratelimit.Limiter
	key     ratelimit.Key
}

// buckets are those that a subject may owe in: by user, by address, and by
// both when both are named. An application credential counts apart from its
// user, and is not among them.
func (a *App) buckets(w whom) (out []bucket) {
	user, addr := w.user, w.addr
	for _, l := range a.Limits.All() {
		switch kind := keyedBy(l.Name()); {
		case kind == byAddress && addr.IsValid() && user == "":
			out = append(out, bucket{l, l.Address(addr)})
		case kind == byUser && user != "":
			out = append(out, bucket{l, l.Text(user)})
		case kind == byPrincipal && user != "":
			out = append(out, bucket{l, l.Text(user)})
		case kind == byPair && user != "" && addr.IsValid():
			out = append(out, bucket{l, guess.PairKey(l, user, addr)})
		}
	}
	return out
}

// whom is a subject, looked up.
type whom struct {
	user string // "" if it names none
	addr netip.Addr
}

func (a *App) whom(ctx context.Context, s ops.Subject) (w whom, err error) {
	if w.user, err = a.userOf(ctx, s); err != nil {
		return w, err
	}
	if s.Address != "" {
		if w.addr, err = netip.ParseAddr(s.Address); err != nil {
			return w, fault.New(fault.BadRequest, "%q is no IP address.", s.Address)
		}
	}
	return w, nil
}

const appCredsOf = `select id from application_credential where user_id = $1`

// appCreds are the buckets of a user's application credentials, where any
// limiter counts principals.
func (a *App) appCreds(ctx context.Context, user string) (out []bucket, err error) {
	var by []*ratelimit.Limiter
	for _, l := range a.Limits.All() {
		if keyedBy(l.Name()) == byPrincipal {
			by = append(by, l)
		}
	}
	if user == "" || len(by) == 0 {
		return nil, nil
	}
	ids, err := db.All(ctx, a.DB, db.Query[string]{
		Text: appCredsOf, Args: []any{user},
		Scan: func(row db.Row) (id string, err error) { err = row.Scan(&id); return id, err },
	})
	for _, id := range ids {
		for _, l := range by {
			out = append(out, bucket{l, l.Text(id)})
		}
	}
	return out, err
}

// userOf is the id of the user that a subject names, "" if it names none.
func (a *App) userOf(ctx context.Context, s ops.Subject) (string, error) {
	if s.UserID != "" || s.Name == "" {
		return s.UserID, nil
	}
	u, err := db.One(ctx, a.DB, identity.AccountByName(s.Name, s.DomainID))
	if errors.Is(err, db.ErrNoRow) {
		return "", fault.NoSuch("user", s.Name)
	}
	return u.ID, err
}

// Standing looks at a subject's buckets and charges nothing.
func (d desk) Standing(ctx context.Context, s ops.Subject) ([]ops.Standing, error) {
	a, err := d.app()
	if err != nil {
		return nil, err
	}
	w, err := a.whom(ctx, s)
	if err != nil {
		return nil, err
	}
	list := a.buckets(w)
	out := make([]ops.Standing, 0, len(list))
	for _, b := range list {
		at, err := b.limiter.Peek(ctx, b.key)
		if err != nil {
			return nil, err
		}
		out = append(out, ops.Standing{
			Limiter: b.limiter.Name(), Key: a.shown(b.limiter, b.key), Remaining: at.Remaining, Burst: b.limiter.Quota().Burst,
			Retry: wait(b.limiter, at).Seconds(), Reset: at.Reset.Seconds(),
		})
	}
	return out, nil
}

// wait is how long a key with nothing left waits for the next unit; by a sliding
// window, which cannot tell, at most.
func wait(l *ratelimit.Limiter, at ratelimit.Decision) time.Duration {
	switch {
	case at.Remaining > 0:
		return 0
	case l.Algorithm() == ratelimit.SlidingWindow:
		return at.Reset
	}
	return l.NextUnit(at)
}

// Reset forgets what a subject owes, and what this process remembers of a user's
// guesses; his application credentials owe nothing more either.
func (d desk) Reset(ctx context.Context, s ops.Subject) ([]string, error) {
	a, err := d.app()
	if err != nil {
		return nil, err
	}
	w, err := a.whom(ctx, s)
	if err != nil {
		return nil, err
	}
	credentials, err := a.appCreds(ctx, w.user)
	faults, names := []error{err}, []string{}
	for _, b := range append(a.buckets(w), credentials...) {
		if err := b.limiter.Reset(ctx, b.key); err != nil {
			faults = append(faults, err)
		} else if !slices.Contains(names, b.limiter.Name()) {
			names = append(names, b.limiter.Name())
		}
	}
	if w.user != "" {
		a.guesses.Forget(w.user, w.addr)
	}
	return names, errors.Join(faults...)
}

// Lockouts lists accounts that failed logins have locked.
func (d desk) Lockouts(ctx context.Context) ([]ops.Lockout, bool, error) {
	a, err := d.app()
	if err != nil {
		return nil, false, err
	}
	list, truncated, err := a.guard.List(ctx, a.DB)
	out := make([]ops.Lockout, len(list))
	for i, l := range list {
		out[i] = lockoutOf(l)
	}
	return out, truncated, err
}

func lockoutOf(l lockout.Account) ops.Lockout {
	return ops.Lockout{UserID: l.UserID, DomainID: l.DomainID, Failures: l.Failures, Last: l.FailedAt, Until: l.Until}
}
