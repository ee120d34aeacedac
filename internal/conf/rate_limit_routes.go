package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// routePrefix begins the names of the sections that hold the limits of routes.
const routePrefix = "rate_limit_route:"

// routeOptions are those of every such section.
var routeOptions = sync.OnceValue(func() []*Option {
	var list []*Option
	for _, f := range tagged(reflect.TypeFor[RateLimitRoute]()) {
		o := newOption(routePrefix, f)
		o.fieldIndex = f.Index
		list = append(list, o)
	}
	return list
})

// RouteOptions lists the options of a section [rate_limit_route:NAME], under
// the section's name without NAME.
func RouteOptions() []*Option { return routeOptions() }

// routes makes room for the routes' sections that the files have. A name twice
// in one file is a fault: half of one and half of the other would hold.
func (l *loader) routes() {
	var names []string
	for i, heads := range l.heads {
		seen := map[string]bool{}
		for _, h := range heads {
			name, ours := strings.CutPrefix(h.section, routePrefix)
			if !ours || name == "" || !plainName(name) {
				continue // told as a section that there is not
			}
			if seen[name] {
				l.faults = append(l.faults, Fault{File: l.docs[i].file, Line: h.line, Section: h.section, Message: "the section stands twice in the file"})
			}
			seen[name] = true
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		l.table = l.table.withRoutes(names)
	}
	for _, name := range names {
		l.config.RateLimitRoutes = append(l.config.RateLimitRoutes, RateLimitRoute{Name: name})
	}
}

// withRoutes is a copy of the table that has the options of these routes too.
func (t *optionTable) withRoutes(names []string) *optionTable {
	with := &optionTable{all: slices.Clone(t.all), byName: maps.Clone(t.byName), older: t.older, sections: maps.Clone(t.sections)}
	for i, name := range names {
		for _, o := range routeOptions() {
			own := *o
			own.Section, own.route = routePrefix+name, i
			with.add(&own)
		}
	}
	return with
}

// fieldOf is where the value of an option goes.
func (l *loader) fieldOf(o *Option) reflect.Value {
	if o.route >= 0 {
		return reflect.ValueOf(&l.config.RateLimitRoutes[o.route]).Elem().FieldByIndex(o.fieldIndex)
	}
	return reflect.ValueOf(l.config).Elem().FieldByIndex(o.fieldIndex)
}

// checkLimits looks at what spans the options of the limits.
func (l *loader) checkLimits() {
	d := l.config.RateLimitDefault
	l.checkPrices("rate_limit_default", d.Prices, limitOf{"per_address", d.PerAddress})
	owner := map[string]Name{}
	for i := range l.config.RateLimitRoutes {
		l.checkRoute(&l.config.RateLimitRoutes[i], owner)
	}
	l.checkSpray()
	l.checkRedis()
}

type limitOf struct {
	option string
	limit  *Limit
}

func (l *loader) checkRoute(r *RateLimitRoute, owner map[string]Name) {
	section := routePrefix + r.Name
	l.checkPrices(section, r.Prices, limitOf{"per_address", r.PerAddress}, limitOf{"per_client", r.PerClient})
	set := r.PerAddress != nil || r.PerClient != nil || r.PerPrincipal != nil
	switch {
	case len(r.Paths) == 0:
		l.complain(section, "paths", "the section names no route; give METHOD:/path such as POST:/v3/auth/tokens")
	case r.Exempt && set:
		l.complain(section, "exempt", "the routes are exempt, and yet the section has limits for them")
	case !r.Exempt && !set:
		l.complain(section, "paths", "the section neither limits its routes nor exempts them; give per_address, per_client, per_principal or exempt")
	}
	for _, p := range r.Paths {
		if other, twice := owner[p]; twice {
			l.complain(section, "paths", fmt.Sprintf("%s stands in %s too", p, other))
		}
		owner[p] = Name{section, "paths"}
	}
}

// checkPrices refuses a price that the burst can never pay: such a request
// would be refused for ever.
func (l *loader) checkPrices(section string, p Prices, limits ...limitOf) {
	v := reflect.ValueOf(p)
	for _, f := range tagged(v.Type()) {
		price := int(v.FieldByIndex(f.Index).Int())
		for _, n := range limits {
			if n.limit != nil && price > n.limit.Burst {
				l.complain(section, f.Tag.Get("ini"), fmt.Sprintf("the price %d is above the burst of %s = %s", price, n.option, n.limit))
			}
		}
	}
}

func (l *loader) checkSpray() {
	s, f := l.config.RateLimitSpray, l.config.RateLimitFailedLogin
	if s.PerPassword == nil {
		return
	}
	for _, n := range []limitOf{{"per_address", f.PerAddress}, {"per_user_address", f.PerUserAddress}} {
		if n.limit != nil && s.PasswordPrice > n.limit.Burst {
			l.complain("rate_limit_spray", "password_price", fmt.Sprintf("the price %d is above the burst of [rate_limit_failed_login] %s = %s", s.PasswordPrice, n.option, n.limit))
		}
	}
}

// leastSecret is how long [rate_limit] key_secret must be.
const leastSecret = 16

// checkRedis looks at how the shared store is reached.
func (l *loader) checkRedis() {
	r := l.config.RateLimit
	if r.Mode == "off" {
		return
	}
	if r.KeySecret != "" && len(r.KeySecret) < leastSecret {
		l.complain("rate_limit", "key_secret", fmt.Sprintf("the text is too short; give at least %d characters, the same on all instances", leastSecret))
	}
	switch {
	case r.Store == "redis" && r.RedisURL == "" && r.RedisURLFile == "":
		l.complain("rate_limit", "redis_url", "store = redis needs redis_url or redis_url_file")
	case r.RedisURL != "" && r.RedisURLFile != "":
		l.complain("rate_limit", "redis_url_file", "redis_url is given too; one of them alone can hold")
	case r.RedisCluster && r.RedisSentinel != "":
		l.complain("rate_limit", "redis_cluster", "redis_sentinel_master is given too; Redis is watched by Sentinel or is a Cluster")
	}
	if (r.RedisTLSCertFile == "") != (r.RedisTLSKeyFile == "") {
		l.complain("rate_limit", "redis_tls_key_file", "redis_tls_cert_file and redis_tls_key_file belong together")
	}
}

// complain blames an option where it is set, else where its section begins.
func (l *loader) complain(section, option, message string) {
	n := Name{section, option}
	if l.blamed[n] {
		return
	}
	at := l.value(l.table.byName[n]).from
	for i := len(l.docs) - 1; i >= 0 && at == nil; i-- {
		for _, h := range l.heads[i] {
			if h.section == section {
				at = &raw{file: l.docs[i].file, line: h.line}
				break
			}
		}
	}
	l.blame(n, at, message)
}
