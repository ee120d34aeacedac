package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// TakeTogether decides charges of any of the client's stores, as
// ratelimit.Bundler says: in one call where their keys are in one place, which
// is always so but on a cluster. There, keys of different callers are charged
// one group after the other, and given back after a refusal.
func (c *Client) TakeTogether(ctx context.Context, _ time.Duration, parts []ratelimit.Part) error {
	for i := range parts {
		if s := parts[i].Store.(*Store); parts[i].Cost < 0 || parts[i].Cost > s.quota.Load().Burst {
			return ratelimit.ErrCost
		}
	}
	if c.knownDenied(parts) {
		return nil
	}
	err := c.each(parts, func(group []ratelimit.Part) (bool, error) { return c.takeGroup(ctx, group) },
		func(charged []ratelimit.Part) { c.giveBack(ctx, charged) })
	if err != nil {
		for i := range parts {
			parts[i].Decision = ratelimit.Decision{}
		}
	}
	return err
}

// knownDenied fills the decisions if a part is refused by what is remembered. A
// shadow has to be charged and counted, so it always goes to the server.
func (c *Client) knownDenied(parts []ratelimit.Part) bool {
	for i := range parts {
		if parts[i].Shadow {
			return false
		}
	}
	found := false
	for i := range parts {
		p, s := &parts[i], parts[i].Store.(*Store)
		p.Decision = ratelimit.Decision{Allowed: true, Remaining: s.quota.Load().Burst}
		if s.denied == nil || p.Cost == 0 {
			continue
		}
		if d, ok := s.denied.find(p.Key, p.Cost); ok {
			p.Decision, found = d, true
			s.count(p.Cost, d)
		}
	}
	return found
}

// each calls take for groups of parts that can be decided in one call, and
// undo for those before a group that failed or was refused.
func (c *Client) each(parts []ratelimit.Part, take func([]ratelimit.Part) (bool, error), undo func([]ratelimit.Part)) error {
	for from := 0; from < len(parts); {
		to := len(parts)
		if c.several {
			for to = from + 1; to < len(parts) && parts[to].Key == parts[from].Key; {
				to++
			}
		}
		to = beforeTwice(parts, from, to)
		allowed, err := take(parts[from:to])
		if err != nil || !allowed {
			undo(parts[:from])
			for i := to; i < len(parts); i++ {
				parts[i].Decision = ratelimit.Decision{Allowed: true, Remaining: parts[i].Store.(*Store).quota.Load().Burst}
			}
			return err
		}
		from = to
	}
	return nil
}

// beforeTwice ends a group before a key that is in it already: the script reads
// all states before it writes any.
func beforeTwice(parts []ratelimit.Part, from, to int) int {
	for i := from + 1; i < to; i++ {
		for _, o := range parts[from:i] {
			if o.Store == parts[i].Store && o.Key == parts[i].Key {
				return i
			}
		}
	}
	return to
}

// takeGroup decides one group and remembers its refusals.
func (c *Client) takeGroup(ctx context.Context, parts []ratelimit.Part) (bool, error) {
	asked := make([]asking, len(parts))
	for i := range parts {
		if s := parts[i].Store.(*Store); s.denied != nil {
			asked[i] = s.denied.ask()
		}
	}
	allowed, err := c.decide(ctx, parts)
	if err != nil {
		return false, err
	}
	for i := range parts {
		p, s := &parts[i], parts[i].Store.(*Store)
		s.count(p.Cost, p.Decision)
		if !p.Decision.Allowed && s.denied != nil {
			s.denied.keep(p.Key, p.Cost, asked[i], p.Decision)
		}
	}
	return allowed, nil
}

// decide runs the script for parts and fills their decisions. It tells whether
// they were charged.
func (c *Client) decide(ctx context.Context, parts []ratelimit.Part) (bool, error) {
	keys := make([]string, len(parts))
	args := make([]any, 0, 6*len(parts)+2)
	for i, p := range parts {
		s := p.Store.(*Store)
		q := s.quota.Load()
		keys[i] = s.name(p.Key)
		args = append(args, s.kind, whole(q.Rate), whole(q.Period.Microseconds()), whole(q.Burst), whole(p.Cost), shadow(p.Shadow))
	}
	answer, err := c.run(ctx, keys, args)
	if err != nil {
		return false, err
	}
	allowed := true
	for i := range parts {
		a := answer[4*i:]
		parts[i].Decision = ratelimit.Decision{
			Allowed: a[0] == 1, Remaining: a[1],
			Retry: time.Duration(a[2]) * time.Microsecond, Reset: time.Duration(a[3]) * time.Microsecond,
		}
		allowed = allowed && (a[0] == 1 || parts[i].Shadow)
	}
	return allowed, nil
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func shadow(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// giveBack returns charges of the groups before a refusal. It is the caller who
// was refused, so a failure costs him only what time gives back.
func (c *Client) giveBack(ctx context.Context, parts []ratelimit.Part) {
	for _, p := range parts {
		if p.Decision.Allowed && p.Cost > 0 {
			_ = p.Store.Refund(ctx, p.Key, p.Cost)
		}
	}
}
