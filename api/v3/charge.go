package v3

import (
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// chargeOpen charges what is known to be owed before the body is read: every
// request of an open credential row, and one whose token is missing or none
// of ours.
func (a *API) chargeOpen(c *Call) error {
	switch c.route.Limit {
	case ratelimit.ClassAuth:
		return a.charge(c)
	case ratelimit.ClassToken:
		return a.chargeUnknown(c)
	}
	return nil
}

func (a *API) chargeUnknown(c *Call) error {
	if a.ours(c) {
		return nil
	}
	return a.charge(c)
}

// ours reports whether the request carries a token of this cloud, valid or
// not.
func (a *API) ours(c *Call) bool {
	if !c.looked {
		t := c.r.Header.Get("X-Auth-Token")
		c.looked, c.ours = true, t != "" && a.cfg.Auth.Decodes(t)
	}
	return c.ours
}

// chargeStranger charges a request outside the table, unless it carries a
// valid token.
func (a *API) chargeStranger(c *Call) error {
	if err := a.chargeUnknown(c); err != nil {
		return err
	}
	return a.authenticate(c)
}

// tooMany is the answer of every limit: its bytes never tell which it was.
func tooMany(retry time.Duration) error {
	return &fault.Error{Kind: fault.TooMany, RetryAfter: retry, Message: ratelimit.Refusal}
}

// charge spends one of the client address' requests, once in a request.
func (a *API) charge(c *Call) error {
	if c.charged || a.cfg.Limits == nil || a.cfg.Limits.GlobalIP == nil {
		return nil
	}
	c.charged = true
	if !c.Addr.IsValid() {
		return &fault.Error{Kind: fault.Unavailable, Message: unavailableText, Detail: "the request has no client address", RetryAfter: time.Second}
	}
	l := a.cfg.Limits.GlobalIP
	d, err := l.Take(c.Ctx(), l.Address(c.Addr))
	switch {
	case err != nil:
		return fmt.Errorf("limit by address: %w", err)
	case !d.Allowed:
		return tooMany(d.Retry)
	}
	return nil
}
