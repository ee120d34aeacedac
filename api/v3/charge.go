package v3

import (
	"context"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// bill is what a request has been charged. It lives in the Call, so that
// charging allocates nothing.
type bill struct {
	list   [maxCharges]ratelimit.Charge
	prices [maxCharges]*ratelimit.Prices // nil: 1, whatever becomes of it
	n      int
	// stranger and address tell what was looked at already: the limits that
	// hold without a valid token, and those that hold anyway.
	stranger, address bool
	// principal is the limit that the answer may tell about.
	principal *ratelimit.Limiter
	stands    ratelimit.Decision
}

// maxCharges: the address and its wider network, the default layer, address and
// client of a policy, and the principal.
const maxCharges = 6

func (b *bill) add(l *ratelimit.Limiter, key ratelimit.Key, prices *ratelimit.Prices) {
	if l == nil {
		return
	}
	cost := int64(1)
	if prices != nil {
		cost = prices.Most()
	}
	b.list[b.n], b.prices[b.n] = ratelimit.Charge{Limiter: l, Key: key, Cost: cost}, prices
	b.n++
}

// chargeFirst charges what is owed before the body is read: each request of an
// open row and each whose token is missing or none of ours owes what strangers
// owe; all owe the layers by address, but for the validation of a token by one
// of ours.
func (a *API) chargeFirst(c *Call) error {
	if c.plan.free {
		return nil
	}
	stranger := c.plan.open || !a.ours(c)
	return a.chargeAddress(c, stranger, stranger || !c.plan.validates)
}

// chargeRefused charges what a token turned out to owe that is of this cloud
// and not valid.
func (a *API) chargeRefused(c *Call) error { return a.chargeAddress(c, true, true) }

// ours reports whether the request carries a token of this cloud, valid or
// not.
func (a *API) ours(c *Call) bool {
	if !c.looked {
		c.looked = true
		if t := c.r.Header.Get("X-Auth-Token"); t != "" {
			c.opened, c.ours = a.cfg.Auth.Decodes(t)
		}
	}
	return c.ours
}

// chargeStranger charges a request outside the table as one of a row that
// wants a token.
func (a *API) chargeStranger(c *Call) error {
	if err := a.refuseBlocked(c); err != nil {
		return err
	}
	if err := a.chargeFirst(c); err != nil {
		return err
	}
	return a.authenticate(c)
}

// chargeAddress charges the limits by address that are due and have not been
// looked at in this request, all or none.
func (a *API) chargeAddress(c *Call, stranger, address bool) error {
	stranger, address = stranger && !c.bill.stranger, address && !c.bill.address
	c.bill.stranger, c.bill.address = c.bill.stranger || stranger, c.bill.address || address
	from := c.bill.n
	a.due(c, stranger, address && c.plan.layers)
	due := c.bill.list[from:c.bill.n]
	switch {
	case len(due) == 0:
		return nil
	case c.Unlimited:
		for _, d := range due {
			d.Limiter.Observe(ratelimit.Exempt)
		}
		c.bill.n = from
		return nil
	case !c.Addr.IsValid():
		c.bill.n = from
		if allShadow(due) {
			return nil
		}
		return &fault.Error{Kind: fault.Unavailable, Message: unavailableText, Detail: "the request has no client address", RetryAfter: time.Second}
	}
	return a.take(c, from)
}

// due adds the limits by address to the bill.
func (a *API) due(c *Call, stranger, layers bool) {
	set := a.cfg.Limits
	if stranger {
		c.bill.add(set.GlobalIP, set.GlobalIP.Address(c.Addr), nil)
		c.bill.add(set.GlobalIPWide, set.GlobalIPWide.Address(c.Addr), nil)
	}
	if !layers {
		return
	}
	c.bill.add(set.Default, set.Default.Address(c.Addr), &set.DefaultPrices)
	p := c.plan.policy
	if p == nil {
		return
	}
	c.bill.add(p.PerAddress, p.PerAddress.Address(c.Addr), &p.Prices)
	if p.PerClient != nil {
		if id, _, ok := c.r.BasicAuth(); ok {
			c.bill.add(p.PerClient, p.PerClient.Text(id), &p.Prices)
		}
	}
}

func allShadow(charges []ratelimit.Charge) bool {
	for _, c := range charges {
		if c.Limiter.Mode() != ratelimit.Shadow {
			return false
		}
	}
	return true
}

// take charges what was added to the bill, all or none.
func (a *API) take(c *Call, from int) error {
	d, err := ratelimit.TakeAll(c.Ctx(), c.bill.list[from:c.bill.n]...)
	switch {
	case err != nil:
		c.bill.n = from
		return noStore(err)
	case !d.Allowed:
		c.bill.n = from
		return tooMany(d)
	}
	c.bill.stands = d.Decision
	return nil
}

// noStore is the answer while the counters cannot be asked and the limit is
// set to let nobody pass unseen.
func noStore(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Message: unavailableText, Detail: "limits: " + err.Error(), RetryAfter: time.Second}
}

// tooMany is the answer of every limit: its bytes never tell which it was.
func tooMany(d ratelimit.Verdict) error {
	return &fault.Error{Kind: fault.TooMany, RetryAfter: d.Retry, Message: ratelimit.Refusal, Reason: d.By}
}

// chargePrincipal charges who holds a valid token, or is about to be given
// one. An application credential counts apart from its user.
func (a *API) chargePrincipal(c *Call, id *auth.Identity) error {
	l := c.plan.principal
	if l == nil || id == nil {
		return nil
	}
	who := id.User.ID
	if id.Token != nil && id.Token.AppCredID != "" {
		who = id.Token.AppCredID
	}
	key := l.Text(who)
	if a.exempt(id) {
		return a.chargeExempt(c, l, key, id)
	}
	from := c.bill.n
	c.bill.add(l, key, &onePrice)
	if err := a.take(c, from); err != nil {
		return err
	}
	if !c.plan.open && l.Mode() == ratelimit.Enforce {
		c.bill.principal = l
	}
	return nil
}

// onePrice is what principals pay: each request is one of theirs, but for
// those that another limit refuses.
var onePrice = ratelimit.Prices{Success: 1, Unauthorized: 1, Forbidden: 1, NotFound: 1, Other: 1}

// settle gives back what the request was charged beyond its price, now that
// its status is known.
func (c *Call) settle(status int) {
	for i := range c.bill.n {
		paid, prices := c.bill.list[i], c.bill.prices[i]
		if prices == nil || paid.Spared || paid.Cost <= prices.Of(status) {
			continue
		}
		// The client may be gone; what it is owed is not. Nothing of the
		// request's context matters here, and a copy of it would be allocated.
		if err := paid.Limiter.RefundCost(context.Background(), paid.Key, paid.Cost-prices.Of(status)); err != nil {
			paid.Limiter.Observe(ratelimit.Failed)
		}
	}
}
