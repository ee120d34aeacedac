package guess

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Limits are the limiters of guesses; one that is nil is off.
type Limits struct {
	// User is the bucket that all strangers share who try one user; Decoy is
	// its twin for names that nobody has.
	User, Decoy *ratelimit.Limiter
	// Trusted is keyed by user and address, for addresses where the user was
	// right before. Nothing else is charged there.
	Trusted *ratelimit.Limiter
	// Address counts failures by address, Pair by what was tried, a user or a
	// name that nobody has, and address; the wide ones by the network around.
	Address, AddressWide, Pair, PairWide *ratelimit.Limiter
	// Spray counts those who were tried in vain from an address, Password those
	// at whom one password was tried in vain, each once until the quota is
	// whole again. Spray refuses; Password makes guesses dearer.
	Spray, Password *ratelimit.Limiter
}

// Guard applies the limits. A nil Guard allows everything.
type Guard struct {
	Limits
	Memory *Memory
	// TrustFor is how long an address counts as one of a user after he was
	// right there.
	TrustFor time.Duration
	// Growing makes the n-th failure in a row of a pair cost 2^(n-1) of Pair
	// and PairWide, at most their burst.
	Growing bool
	// PasswordPrice is what a guess costs by address and by pair with a
	// password that is over its limit.
	PasswordPrice int64
}

// Secret is what is guessed: whose, and with what.
type Secret struct {
	// Who is the id of a user, an id that nobody has, or comes from Name or
	// Homeless; Known tells whether it is a user.
	Who   string
	Known bool
	Guess string
}

// Client is who tries.
type Client struct {
	Addr netip.Addr
	// Exempt addresses are not limited as such; users always are.
	Exempt bool
}

// Try is one guess that has begun. A nil Try was charged nothing.
type Try struct {
	guard   *Guard
	secret  Secret
	addr    netip.Addr
	charges []ratelimit.Charge
	trusted bool
	spray   bool // Spray was charged, as the last
	over    bool
}

// Begin charges a guess, or refuses it: with a 429 that is the same whichever
// limit it was, or a 503 where a limit by address is on and the address is not
// known, or the counters cannot be asked and their limit lets nobody pass then.
func (g *Guard) Begin(ctx context.Context, c Client, s Secret) (*Try, error) {
	if g == nil {
		return nil, nil
	}
	if !c.Addr.IsValid() && g.byAddress() {
		return nil, unavailable("the login has no client address")
	}
	t := &Try{guard: g, addr: c.Addr, secret: s}
	if t.trusted = s.Known && g.trusts(c.Addr, s.Who); t.trusted {
		t.add(g.Trusted, pair(g.Trusted, s.Who, c.Addr), 1)
	} else if err := t.stranger(ctx, c); err != nil {
		return nil, unavailable("limits: " + err.Error())
	}
	d, err := ratelimit.TakeAll(ctx, t.charges...)
	switch {
	case d.By != "": // also when what was charged could not be given back
		return nil, &fault.Error{Kind: fault.TooMany, Message: ratelimit.Refusal, RetryAfter: d.Retry}
	case err != nil:
		return nil, unavailable("limits: " + err.Error())
	}
	t.spray = t.spray && !t.charges[len(t.charges)-1].Spared
	return t, nil
}

// unavailable is the answer where nobody can say whether a guess is one too
// many, and none may pass unseen.
func unavailable(detail string) error {
	return &fault.Error{
		Kind: fault.Unavailable, Message: "The service is busy. Try again later.", Detail: detail, RetryAfter: time.Second,
	}
}

// Twins tells whether names that nobody has are told apart, so that of a domain
// its id must be known.
func (g *Guard) Twins() bool {
	return g != nil && (g.Decoy != nil || g.Pair != nil || g.PairWide != nil || g.Spray != nil || g.Password != nil)
}

// byAddress tells whether any limit that refuses needs an address.
func (g *Guard) byAddress() bool {
	for _, l := range []*ratelimit.Limiter{g.Address, g.AddressWide, g.Pair, g.PairWide, g.Spray} {
		if l != nil && l.Mode() != ratelimit.Shadow {
			return true
		}
	}
	return false
}

// trusts tells whether a user was right at an address not long ago.
func (g *Guard) trusts(addr netip.Addr, who string) bool {
	if g.Trusted == nil || !addr.IsValid() {
		return false
	}
	m := g.Memory
	k := m.markOf(who, network(g.Trusted, addr))
	return m.trusted.count(k.page(), k, m.now()) > 0
}

// stranger is what whoever is not trusted is charged.
func (t *Try) stranger(ctx context.Context, c Client) error {
	g, user := t.guard, t.guard.Decoy
	if t.secret.Known {
		user = g.User
	}
	if user != nil {
		t.add(user, user.Text(t.secret.Who), 1)
	}
	if !t.addr.IsValid() {
		return nil
	}
	price, err := t.price(ctx)
	if err != nil {
		return err
	}
	grown := price * t.growth()
	t.addPair(g.Pair, grown)
	t.addPair(g.PairWide, grown)
	if c.Exempt {
		return nil
	}
	t.addAddress(g.Address, price)
	t.addAddress(g.AddressWide, price)
	if g.Spray != nil && !g.Memory.noted(g.Memory.tried, t.seen()) {
		t.addAddress(g.Spray, 1)
		t.spray = true
	}
	return nil
}

func (t *Try) add(l *ratelimit.Limiter, k ratelimit.Key, cost int64) {
	t.charges = append(t.charges, ratelimit.Charge{Limiter: l, Key: k, Cost: min(cost, l.Quota().Burst)})
}

func (t *Try) addPair(l *ratelimit.Limiter, price int64) {
	if l != nil {
		t.add(l, pair(l, t.secret.Who, t.addr), price)
	}
}

func (t *Try) addAddress(l *ratelimit.Limiter, price int64) {
	if l != nil {
		t.add(l, l.Address(t.addr), price)
	}
}

// pair is the bucket of a user at an address.
func pair(l *ratelimit.Limiter, who string, addr netip.Addr) ratelimit.Key {
	return l.Text(who + between + network(l, addr))
}

// price is what the guess costs by its password.
func (t *Try) price(ctx context.Context) (int64, error) {
	l := t.guard.Password
	if l == nil || l.Mode() == ratelimit.Shadow {
		return 1, nil
	}
	d, err := l.Peek(ctx, t.password())
	if err != nil {
		return 0, err
	}
	if d.Remaining > 0 {
		return 1, nil
	}
	return max(t.guard.PasswordPrice, 1), nil
}

// doublings bounds what a price grows to; no burst is above it.
const doublings = 17

// growth is by how much a pair pays more, doubled for each failure in a row.
func (t *Try) growth() int64 {
	g := t.guard
	if !g.Growing || g.Pair == nil {
		return 1
	}
	m := t.streak()
	return 1 << min(g.Memory.failing.count(int(m[ownerBytes]), m, g.Memory.now()), doublings)
}

func (t *Try) streak() mark {
	return t.guard.Memory.markOf(t.secret.Who, network(t.guard.Pair, t.addr))
}

func (t *Try) seen() mark { return t.guard.Memory.markOf(t.secret.Who, network(t.guard.Spray, t.addr)) }

// password is the bucket of a password; whoever reads the store learns nothing
// of it without the key, which never leaves the process.
func (t *Try) password() ratelimit.Key {
	m := t.guard.Memory.mark("password", t.secret.Guess)
	return t.guard.Password.Text(string(m[:]))
}
