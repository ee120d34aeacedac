package v3

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// plan is which limits hold for a row. It follows from the shape of the row,
// its rule and its class, and from the policy that the configuration has for
// its path: a new row needs nothing of its own.
type plan struct {
	// policy is the longest that names the row; nil is none.
	policy *ratelimit.RoutePolicy
	// free rows are counted by no limit at all.
	free bool
	// layers are Set.Default and the limits of policy.
	layers bool
	// open rows ask for no token, so that each request is a stranger's.
	open bool
	// validates is set on the rows by which services validate their callers'
	// tokens: with a token of this cloud no address is counted there.
	validates bool
	// principal is the limit of who holds a valid token, or was issued one.
	principal *ratelimit.Limiter
}

// shaped gives a row the class that its rule has, where it names none.
func (r Route) shaped() Route {
	switch {
	case r.Limit != "":
	case r.Rule == Open:
		r.Limit = ratelimit.ClassAuth
	default:
		r.Limit = ratelimit.ClassToken
	}
	return r
}

// planOf makes the plan of a row; nil stands for what the router has no row
// for.
func planOf(r *Route, set *ratelimit.Set, paths patterns) plan {
	var p plan
	if set == nil {
		return plan{free: true}
	}
	if r == nil {
		return plan{layers: true, principal: set.SignedIn}
	}
	p.free = r.Limit == ratelimit.ClassExempt
	p.open = r.Rule == Open
	p.validates = r.Path == tokensPath && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	p.policy = paths.find(r.Method, r.Path)
	p.layers = !p.free && (p.policy == nil || !p.policy.Exempt)
	switch {
	case !p.layers:
	case p.policy != nil && p.policy.PerPrincipal != nil:
		p.principal = p.policy.PerPrincipal
	case !p.open:
		p.principal = set.SignedIn
	}
	return p
}

// pattern is one METHOD:/path of a policy, its arguments without their names.
type pattern struct {
	text, method, path string
	prefix             bool
	policy             *ratelimit.RoutePolicy
	used               bool
}

type patterns []*pattern

// newPatterns reads the paths of all policies. Two that differ in the names of
// arguments alone are one path with two policies.
func newPatterns(set *ratelimit.Set) (patterns, error) {
	var list patterns
	if set == nil {
		return nil, nil
	}
	owner := map[string]string{}
	for _, policy := range set.Routes {
		for _, text := range policy.Paths {
			method, path, ok := strings.Cut(text, ":")
			if !ok || method == "" || !strings.HasPrefix(path, "/") {
				return nil, fmt.Errorf("limit of route %s: %q is not METHOD:/path", policy.Name, text)
			}
			p := &pattern{text: text, method: method, policy: policy}
			p.path, p.prefix = strings.CutSuffix(nameless(path), "*")
			key := method + ":" + nameless(path)
			if other, twice := owner[key]; twice {
				return nil, fmt.Errorf("limit of route %s: %s is a path of %s too", policy.Name, text, other)
			}
			owner[key] = policy.Name
			list = append(list, p)
		}
	}
	return list, nil
}

// nameless writes {name} as {}.
func nameless(path string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString("{}")
		_, path, _ = strings.Cut(after, "}")
	}
}

// find gives the policy of the longest path that names a row.
func (list patterns) find(method, path string) *ratelimit.RoutePolicy {
	path = nameless(path)
	var best *pattern
	for _, p := range list {
		if p.names(method, path) && (best == nil || p.beats(best)) {
			best = p
		}
	}
	if best == nil {
		return nil
	}
	best.used = true
	return best.policy
}

// names takes a HEAD for the GET that it is in all but the answer's body, so
// that nobody goes round a limit by it.
func (p *pattern) names(method, path string) bool {
	if p.method != method && p.method != "*" && (p.method != http.MethodGet || method != http.MethodHead) {
		return false
	}
	return p.path == path || p.prefix && strings.HasPrefix(path, p.path)
}

// beats prefers the longer path, then the one without *, then the nearer
// method.
func (p *pattern) beats(o *pattern) bool {
	switch {
	case len(p.path) != len(o.path):
		return len(p.path) > len(o.path)
	case p.prefix != o.prefix:
		return !p.prefix
	}
	return p.nearness() > o.nearness()
}

func (p *pattern) nearness() int {
	switch p.method {
	case "*":
		return 0
	case http.MethodGet: // HEAD beside it is nearer to a HEAD
		return 1
	}
	return 2
}

// LimitWarnings names the paths of policies by which no row is limited, be it
// that there is none or that longer paths have them all.
func (a *API) LimitWarnings() []string {
	var w []string
	for _, p := range a.paths {
		if !p.used {
			w = append(w, fmt.Sprintf("[rate_limit_route:%s] paths has %s, which is no route here", p.policy.Name, p.text))
		}
	}
	if a.cfg.Limiting.Headers == HeadersAll {
		w = append(w, "[rate_limit] headers is all: answers show a caller what others behind his address do")
	}
	return w
}

// Rows are those that are served, the HEAD of each GET among them.
func (a *API) Rows() []*Route { return a.rows }

// RowOf finds the row that serves a path, as requests do; nil is none.
func (a *API) RowOf(method, path string) *Route {
	path, ok := a.cleanPath(&url.URL{Path: path})
	if !ok {
		return nil
	}
	e := a.echo.AcquireContext()
	defer a.echo.ReleaseContext(e)
	method, path = foldHealth(method, path)
	if !a.find(method, path, e) {
		return nil
	}
	for _, r := range a.rows {
		if r.Method == method && echoPath(r.Path) == e.Path() {
			return r
		}
	}
	return nil
}

// Limits tells what limits a row: the names of the limiters that count
// requests of strangers and by address, and of the one that counts principals.
type Limits struct {
	Class  ratelimit.Class
	Exempt string // the reason, for ClassExempt
	Policy string // the route policy's name, "" for none
	// Open and Validates are set on rows that ask for no token, and on those by
	// which tokens are validated.
	Open, Validates bool
	// Stranger are charged without a valid token, Address always (where
	// Validates, only without one), Principal with one.
	Stranger, Address []string
	Principal         string
}

// LimitsOf tells what limits a row of Rows; nil is a path that no row has.
func (a *API) LimitsOf(row *Route) Limits {
	p, l := a.stranger, Limits{Class: ratelimit.ClassToken}
	if row != nil {
		p = planOf(row, a.cfg.Limits, a.paths)
		l.Class, l.Exempt = row.Limit, row.Exempt
	}
	if p.policy != nil {
		l.Policy = p.policy.Name
	}
	l.Principal, l.Open, l.Validates = p.principal.Name(), p.open, p.validates
	set := a.cfg.Limits
	if set == nil || p.free {
		return l
	}
	for _, s := range []*ratelimit.Limiter{set.GlobalIP, set.GlobalIPWide} {
		if s != nil {
			l.Stranger = append(l.Stranger, s.Name())
		}
	}
	if p.layers {
		if set.Default != nil {
			l.Address = append(l.Address, set.Default.Name())
		}
		if p.policy != nil && p.policy.PerAddress != nil {
			l.Address = append(l.Address, p.policy.PerAddress.Name())
		}
	}
	return l
}
