package v3

import (
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// unlimited tells whether the client's network is exempt of limits by address;
// an address that is not proven to be the client's never is.
func (a *API) unlimited(v *visit) bool {
	return len(a.cfg.Limiting.Exempt) > 0 && v.how.Proven() && holds(a.cfg.Limiting.Exempt, v.addr)
}

func holds(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// blockedFor is what Retry-After says to a network that is blocked.
const blockedFor = time.Minute

// refuseBlocked refuses who comes from a network that is blocked, as a limit
// does. The health check answers all the same.
func (a *API) refuseBlocked(c *Call) error {
	if len(a.cfg.Limiting.Blocked) == 0 || c.route != nil && c.route.Path == healthPath || !holds(a.cfg.Limiting.Blocked, c.Addr) {
		return nil
	}
	a.cfg.Metrics.Limit("block_networks", ratelimit.Rejected)
	return &fault.Error{Kind: fault.TooMany, RetryAfter: blockedFor, Message: ratelimit.Refusal, Reason: "block_networks"}
}

// exempt tells whether no limit by principal refuses somebody.
func (a *API) exempt(id *auth.Identity) bool {
	l := &a.cfg.Limiting
	if slices.Contains(l.Users, id.User.ID) || slices.Contains(l.Domains, id.User.DomainID) {
		return true
	}
	for i := range id.Roles {
		if slices.Contains(l.Roles, id.Roles[i].Name) {
			return true
		}
	}
	return false
}

// chargeExempt charges a principal whom the limit never refuses. What he uses
// beyond it is counted and logged, and costs nothing.
func (a *API) chargeExempt(c *Call, l *ratelimit.Limiter, key ratelimit.Key, id *auth.Identity) error {
	d, err := l.Peek(c.Ctx(), key)
	if err != nil {
		return nil // it would let him pass
	}
	if d.Remaining >= 1 {
		_, _ = l.TakeCost(c.Ctx(), key, 1)
		return nil
	}
	l.Observe(ratelimit.Exempt)
	if times, first := a.overuse.note(l.Name(), a.cfg.Now()); first {
		a.cfg.Log.LogAttrs(c.Ctx(), slog.LevelWarn, "Over a limit that exempts him: "+id.User.ID,
			slog.String("limit", l.Name()), slog.Int("times", times))
	}
	return nil
}

// overuse keeps the log of exempt principals to one line a minute a limit.
type overuse struct {
	mu   sync.Mutex
	seen map[string]*overused
}

type overused struct {
	at    time.Time
	times int
}

// note counts an over-use and tells whether it is to be logged now, with how
// many there were since the line before.
func (o *overuse) note(limit string, now time.Time) (int, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]*overused{}
	}
	s := o.seen[limit]
	if s == nil {
		s = &overused{}
		o.seen[limit] = s
	}
	s.times++
	if !s.at.IsZero() && now.Sub(s.at) < time.Minute {
		return 0, false
	}
	times := s.times
	s.at, s.times = now, 0
	return times, true
}
