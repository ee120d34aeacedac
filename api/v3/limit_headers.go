package v3

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// The names and the form of the headers stand in this file alone, since the
// draft still moves: draft-ietf-httpapi-ratelimit-headers-10. A refusal has
// none of them (see tooMany): it must not tell which limit it was.
const (
	headerPolicy = "Ratelimit-Policy"
	headerLimit  = "Ratelimit"
)

// limitHeaders tells the caller where he stands with the limits that were
// checked: with those by principal alone, unless the configuration wants all.
// Routes that take credentials tell nothing: it would be about somebody else.
func (a *API) limitHeaders(c *Call, status int) {
	if status == http.StatusTooManyRequests || c.plan.open || a.cfg.Limiting.Headers == HeadersOff || a.cfg.Limiting.Headers == "" {
		return
	}
	h := c.echo.Response().Header()
	var policy, limit strings.Builder
	var tightest standing
	if a.cfg.Limiting.Headers == HeadersAll {
		for i := range c.bill.n {
			b := c.bill.list[i]
			if b.Limiter == c.bill.principal || b.Limiter.Mode() == ratelimit.Shadow {
				continue
			}
			if d, err := b.Limiter.Peek(c.Ctx(), b.Key); err == nil {
				tightest.item(&policy, &limit, b.Limiter, d)
			}
		}
	}
	if c.bill.principal != nil {
		tightest.item(&policy, &limit, c.bill.principal, c.bill.stands)
	}
	if policy.Len() == 0 {
		return
	}
	h.Set(headerPolicy, policy.String())
	h.Set(headerLimit, limit.String())
	if a.cfg.Limiting.Legacy {
		h.Set("X-Ratelimit-Limit", strconv.FormatInt(tightest.quota.Burst, 10))
		h.Set("X-Ratelimit-Remaining", strconv.FormatInt(tightest.d.Remaining, 10))
		h.Set("X-Ratelimit-Reset", strconv.FormatInt(ceilSeconds(time.Duration(a.cfg.Now().UnixNano())+tightest.d.Reset), 10))
	}
}

// standing is the limit of those checked that has the least left: the older
// headers can tell of one alone.
type standing struct {
	quota ratelimit.Quota
	d     ratelimit.Decision
}

// item adds one limit to both headers.
func (s *standing) item(policy, limit *strings.Builder, l *ratelimit.Limiter, d ratelimit.Decision) {
	q, name := l.Quota(), headerName(l.Name())
	if s.quota.Burst == 0 || d.Remaining < s.d.Remaining {
		s.quota, s.d = q, d
	}
	if policy.Len() > 0 {
		policy.WriteString(", ")
		limit.WriteString(", ")
	}
	policy.WriteString(`"` + name + `";q=` + strconv.FormatInt(q.Burst, 10) + `;w=` + strconv.FormatInt(ceilSeconds(q.FullAfter()), 10))
	limit.WriteString(`"` + name + `";r=` + strconv.FormatInt(d.Remaining, 10))
	if t := ceilSeconds(l.NextUnit(d)); t > 0 {
		limit.WriteString(`;t=` + strconv.FormatInt(t, 10))
	}
}

// headerName is a limiter in the headers: its section without what all of them
// begin with, or the name of the route.
func headerName(name string) string {
	name, route := strings.CutPrefix(name, "rate_limit_route:")
	if !route {
		return strings.TrimPrefix(name, "rate_limit_")
	}
	return strings.TrimSuffix(name, ".per_principal")
}

func ceilSeconds(d time.Duration) int64 {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return seconds
}
