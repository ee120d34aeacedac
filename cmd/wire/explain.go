package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// Asked is a request whose treatment is to be explained.
type Asked struct {
	Peer         string
	Header       http.Header
	Method, Path string
}

// Explained is whom a request counts for, and under which limits.
type Explained struct {
	Address clientaddr.Explanation
	Notes   []string
	Path    string // the row, as the route list has it
	Steps   []Step // in the order in which they are asked
}

// Step is one limit.
type Step struct{ Limiter, Mode, Quota, Key, When string }

// nobody stands for the parts of an API that is never asked anything.
type nobody struct{}

func (nobody) Validate(context.Context, auth.Check) (auth.Result, error) {
	return auth.Result{}, errors.New("nobody validates")
}
func (nobody) Decodes(string) (auth.Opened, bool) { return auth.Opened{}, false }
func (nobody) Default(string) bool                { return false }
func (nobody) Enforce(context.Context, string, policy.Credentials, policy.Target) error {
	return errors.New("nobody decides")
}

// Explain says what a server of this configuration would do, without one.
func Explain(cfg *conf.Config, asked Asked) (Explained, error) {
	clients, err := resolverOf(cfg)
	if err != nil {
		return Explained{}, err
	}
	set, _, err := ratelimit.Build(limitConfig(cfg), memory.Open)
	if err != nil {
		return Explained{}, err
	}
	defer set.Close()
	limiting := limitingOf(cfg.RateLimit)
	api, err := v3.New(v3.Config{
		Auth: nobody{}, Policy: nobody{}, Clients: clients, Log: slog.New(slog.DiscardHandler), Now: time.Now, MaxBody: 1,
		Routes: Routes(), Limits: set, Limiting: limiting,
	})
	if err != nil {
		return Explained{}, err
	}
	x := explanation{set: set, limiting: limiting}
	x.Address = clients.Explain(asked.Peer, asked.Header)
	row := api.RowOf(asked.Method, strings.TrimPrefix(asked.Path, cfg.KeystoneGo.PathPrefix))
	x.Path = asked.Method + " " + asked.Path + ": no such route"
	if row != nil {
		x.Path = row.Method + " " + row.Path
	}
	x.explain(row, api.LimitsOf(row))
	return x.Explained, nil
}

type explanation struct {
	Explained
	set      *ratelimit.Set
	limiting v3.Limiting
	exempt   bool // no limit by address counts the client
}

func (x *explanation) note(format string, args ...any) {
	x.Notes = append(x.Notes, fmt.Sprintf(format, args...))
}

func (x *explanation) explain(row *v3.Route, l v3.Limits) {
	client := x.Address.Client
	if n, ok := within(x.limiting.Blocked, client); ok {
		x.note("the client is in [rate_limit] block_networks (%s): every request is refused", n)
		return
	}
	if n, ok := within(x.limiting.Exempt, client); ok {
		x.exempt = x.Address.How.Proven()
		if x.exempt {
			x.note("the client is in [rate_limit] exempt_networks (%s): no limit by address counts it", n)
		} else {
			x.note("the peer is in [rate_limit] exempt_networks (%s), but nothing proves that it is the client: it is counted", n)
		}
	}
	if l.Exempt != "" {
		x.note("the path is never limited: %s", l.Exempt)
	}
	if l.Policy != "" {
		x.note("the path has the policy [rate_limit_route:%s]", l.Policy)
	}
	always, stranger := "each request", "without a valid token"
	if l.Open {
		stranger = always
	}
	if l.Validates {
		always = "without a token of this cloud"
	}
	for _, name := range l.Stranger {
		x.byAddress(x.set.Limiter(name), stranger)
	}
	for _, name := range l.Address {
		x.byAddress(x.set.Limiter(name), always)
	}
	if row != nil && row.Method == http.MethodPost && (row.Path == "/v3/auth/tokens" || row.Path == "/v3/users/{user_id}/password") {
		x.guesses()
	}
	if l.Principal != "" {
		when := "with a valid token"
		if l.Open {
			when = "once a token is about to be issued"
		}
		x.step(x.set.Limiter(l.Principal), "the user", when)
	}
}

// guesses are the limits of a password that is looked at.
func (x *explanation) guesses() {
	s := x.set
	x.step(s.TrustedPair, "the user at this address", "each attempt of a user who was right at this address not long ago; given back on success")
	x.step(s.UserAuth, "the user", "each other attempt; given back on success")
	x.step(s.Decoy, "the name", "each attempt at a name that nobody has")
	x.step(s.FailedPair, "the user at this address", "each failure")
	x.step(s.FailedPairWide, "the user in the network around", "each failure")
	x.byAddress(s.FailedAddress, "each failure")
	x.byAddress(s.FailedAddressWide, "each failure")
	x.byAddress(s.SprayAddress, "each failure at another user")
	x.step(s.SprayPassword, "the password", "each failure at another user; beyond it failures cost more")
}

func (x *explanation) byAddress(l *ratelimit.Limiter, when string) {
	client := x.Address.Client
	switch {
	case l == nil || x.exempt:
	case !client.IsValid():
		x.step(l, "(none: 503)", when)
	default:
		x.step(l, bucketOf(l, client).String(), when)
	}
}

func (x *explanation) step(l *ratelimit.Limiter, key, when string) {
	if l == nil {
		return
	}
	q := l.Quota()
	x.Steps = append(x.Steps, Step{
		Limiter: l.Name(), Mode: string(l.Mode()), Quota: fmt.Sprintf("%d at once, %d each %s", q.Burst, q.Rate, q.Period), Key: key, When: when,
	})
}

// bucketOf is the network whose addresses share the bucket of an address: the
// key says how many bits count.
func bucketOf(l *ratelimit.Limiter, addr netip.Addr) netip.Prefix {
	key := l.Address(addr)
	first := netip.AddrFrom16(key.Bytes()).Unmap()
	raw := addr.As16()
	from := 0
	if addr.Is4() {
		from = 96
	}
	bits := 0
	for i := from; i < 128; i++ {
		other := raw
		other[i/8] ^= 0x80 >> (i % 8)
		if l.Address(netip.AddrFrom16(other)) != key {
			bits = i - from + 1
		}
	}
	if first.Is4() && !addr.Is4() { // NAT64: the IPv4 address inside
		bits = max(0, bits-96)
	}
	return netip.PrefixFrom(first, bits)
}

func within(list []netip.Prefix, a netip.Addr) (netip.Prefix, bool) {
	for _, p := range list {
		if a.IsValid() && p.Contains(a) {
			return p, true
		}
	}
	return netip.Prefix{}, false
}
