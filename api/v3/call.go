package v3

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
)

// Call is one request on its way through its row.
type Call struct {
	// Caller is whose X-Auth-Token it is; nil for an anonymous request.
	Caller *auth.Identity
	// Subject is whose X-Subject-Token it is; nil when SubjectErr is not, and
	// on rows that ask for none.
	Subject    *auth.Identity
	SubjectErr error
	// Addr is the client's address, for limits, audit and logs alike.
	Addr netip.Addr
	// Unlimited is set where no limit by address counts the client, since his
	// network is exempt.
	Unlimited bool
	// Issued is who is given a token by the answer, for the limit of the tokens
	// of one principal.
	Issued *auth.Identity
	// Object is what Target loaded for Do.
	Object any

	r       *http.Request
	echo    echo.Context
	route   *Route
	trace   *olog.Request
	base    string
	body    pyjson.Object
	query   url.Values
	maxList int
	plan    *plan
	bill    bill
	notify  *notify.Notifier
	changes []notify.Change // beside the row's own
	looked  bool            // ours is known
	opened  auth.Opened
	policy  Enforcer
	caller  policy.Credentials // of Caller, once a rule was asked
	ours    bool
}

// may asks a rule about the caller. The row's own was asked before: this is for
// lists of which each item has a rule, and for rules that hang on what was read.
func (c *Call) may(rule string, target policy.Target) error {
	if c.caller == nil {
		c.caller = c.Caller.Credentials()
	}
	return c.policy.Enforce(c.Ctx(), rule, c.caller, target)
}

// Ctx is the request's context; it ends when the client hangs up.
func (c *Call) Ctx() context.Context { return c.r.Context() }

// Request is the request as it came, its path normalised and its body read.
func (c *Call) Request() *http.Request { return c.r }

// RequestID is the id that the answer carries, req-<uuid>.
func (c *Call) RequestID() string { return c.trace.ID }

// Param is an argument of the path, decoded.
func (c *Call) Param(name string) string { return c.echo.Param(name) }

// Query is the first value of a query parameter, or "".
func (c *Call) Query(name string) string { return c.query.Get(name) }

// QueryValues is the whole query, with repeated parameters.
func (c *Call) QueryValues() url.Values { return c.query }

// QueryFlag reports whether a parameter is there and not exactly 0, which is
// how Keystone reads its flags (`?nocatalog`, `?effective`).
func (c *Call) QueryFlag(name string) bool {
	v, ok := c.query[name]
	return ok && v[0] != "0"
}

// JSON is the body, in the order it was sent; empty when there was none.
func (c *Call) JSON() pyjson.Object { return c.body }

// Body fills v, a *pyjson.Object or a *map[string]any, with the body. It
// fails on any other type: names of fields in Go match more than Python's
// exact keys do.
func (c *Call) Body(v any) error {
	switch v := v.(type) {
	case *pyjson.Object:
		*v = c.body
	case *map[string]any:
		*v = c.body.Map()
	default:
		return fmt.Errorf("body into %T", v)
	}
	return nil
}

// BaseURL is where clients reach the server, without /v3 and without a slash
// at the end: [DEFAULT] public_endpoint, or what the request says.
func (c *Call) BaseURL() string { return c.base }

// Link is the address of an object: Link("regions", id).
func (c *Call) Link(parts ...string) string {
	return c.base + "/v3/" + strings.Join(parts, "/")
}

// Self is the address of a list as it was asked for, query included.
func (c *Call) Self() string {
	self := c.base + c.r.URL.Path
	if q := c.r.URL.RawQuery; q != "" {
		self += "?" + q
	}
	return self
}
