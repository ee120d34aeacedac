package guess

import (
	"context"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Right ends a try whose secret was right, and nothing else stood against it:
// it costs nothing, and the address counts as the user's from now on. What
// cannot be given back now comes back by itself, so that no store keeps a user
// out who was right.
func (t *Try) Right(ctx context.Context) {
	if t.ended() {
		return
	}
	t.refund(ctx, t.charges)
	g, m := t.guard, t.guard.Memory
	if g.Pair != nil && g.Growing {
		k := t.streak()
		m.failing.forget(int(k[ownerBytes]), k)
	}
	if g.Trusted != nil && t.secret.Known && t.addr.IsValid() {
		now := m.now()
		k := m.markOf(t.secret.Who, network(g.Trusted, t.addr))
		m.trusted.note(k.page(), k, now, now+g.TrustFor)
	}
}

// Wrong ends a try that was refused, for whatever reason: its price stays paid,
// and what it tells of its address and its password is noted.
func (t *Try) Wrong(ctx context.Context) {
	if t.ended() || t.trusted {
		return
	}
	g, m := t.guard, t.guard.Memory
	if g.Pair != nil && g.Growing {
		m.noteFor(m.failing, t.streak(), 2*g.Pair.Quota().FullAfter())
	}
	if t.spray && m.noteFor(m.tried, t.seen(), g.Spray.Quota().FullAfter()) > 1 {
		t.refund(ctx, t.charges[len(t.charges)-1:]) // one beside it was counted
	}
	if g.Password != nil {
		k := m.mark("password", t.secret.Guess, t.secret.Who)
		if m.noteFor(m.passwords, k, g.Password.Quota().FullAfter()) == 1 {
			// Whether it is over its limit, the next price will tell.
			_, _ = g.Password.Take(context.WithoutCancel(ctx), t.password())
		}
	}
}

// Drop ends a try that nobody looked at: it is as if it had not begun.
func (t *Try) Drop(ctx context.Context) {
	if !t.ended() {
		t.refund(ctx, t.charges)
	}
}

// ended ends a try, and tells whether it had ended before: the first word
// stands.
func (t *Try) ended() bool {
	if t == nil || t.over {
		return true
	}
	t.over = true
	return false
}

// refund gives charges back, whether or not the client stays for it.
func (t *Try) refund(ctx context.Context, charges []ratelimit.Charge) {
	ctx = context.WithoutCancel(ctx)
	for _, c := range charges {
		if !c.Spared {
			_ = c.Limiter.RefundCost(ctx, c.Key, c.Cost)
		}
	}
}
