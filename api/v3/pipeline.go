package v3

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/policy"
)

// ServeHTTP answers one request: it names it, cleans its path, finds its row
// and writes one access line about it.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := a.cfg.Now()
	request := newTrace(r)
	ctx, span := a.cfg.Tracer.Serve(olog.WithRequest(r.Context(), request), r.Header, start)
	r = r.WithContext(ctx)
	w.Header().Set("X-Openstack-Request-Id", request.ID)
	addr, how := a.cfg.Clients.Resolve(r.RemoteAddr, r.Header)
	request.Addr = addr
	a.cfg.Metrics.Resolved(string(how))

	e := a.echo.AcquireContext()
	defer a.echo.ReleaseContext(e)
	e.Reset(r, w)
	visit := &visit{addr: addr, how: how, base: a.baseURL(r, how), span: span}
	e.Set(visitKey, visit)
	if a.cfg.CORS.concerns(r) {
		e.Response().Before(func() { a.cfg.CORS.apply(r, e.Response().Header()) })
	}

	a.cfg.Metrics.InFlight(1)
	defer func() {
		a.cfg.Metrics.InFlight(-1)
		if p := recover(); p != nil {
			a.panicked(e, p)
		}
		a.finished(e, visit, a.cfg.Now().Sub(start))
	}()

	path, ok := a.cleanPath(r.URL)
	if !ok {
		a.unrouted(echo.ErrNotFound, e)
		return
	}
	// The router sees the decoded path and nothing else, so that no spelling
	// of a path reaches a handler past the limits of its row.
	u := *r.URL
	u.Path, u.RawPath = path, ""
	r.URL = &u
	method, path := foldHealth(r.Method, path)
	if !a.find(method, path, e) {
		a.unrouted(echo.ErrNotFound, e)
		return
	}
	if err := e.Handler()(e); err != nil {
		a.unrouted(err, e)
	}
}

// find asks the router for a path. echo lets an argument at the end of a path
// hold slashes. Here it is one segment, as in Python, so that "a/b" never names
// the object "a".
func (a *API) find(method, path string, e echo.Context) bool {
	a.echo.Router().Find(method, path, e)
	return strings.Count(e.Path(), "/") == strings.Count(path, "/")
}

// panicked answers 500 where the answer has not begun, and logs the stack.
func (a *API) panicked(e echo.Context, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	a.cfg.Log.ErrorContext(e.Request().Context(), fmt.Sprintf("panic: %v", p), olog.Stack(debug.Stack()))
	if !e.Response().Committed {
		a.write(e, nil, internalAnswer())
	}
}

// serve takes a request through its row.
func (a *API) serve(e echo.Context, r *Route) {
	setRoute(e, r.Path)
	c := a.call(e, r)
	reply, err := a.run(c)
	if err != nil {
		a.refuseCall(c, err)
		return
	}
	c.settle(reply.Status)
	a.limitHeaders(c, reply.Status)
	a.write(e, r, reply)
}

func (a *API) call(e echo.Context, r *Route) *Call {
	v := e.Get(visitKey).(*visit)
	req := e.Request()
	// A query that does not parse keeps the pairs that do, as in Python.
	query, _ := url.ParseQuery(req.URL.RawQuery)
	c := &Call{r: req, echo: e, route: r, base: v.base, Addr: v.addr, query: query, maxList: a.cfg.MaxList, policy: a.cfg.Policy, notify: a.cfg.Notify, trace: olog.FromContext(req.Context())}
	c.plan = &a.stranger
	if r != nil {
		c.plan = &r.plan
	}
	c.Unlimited = a.unlimited(v)
	return c
}

// refuseCall answers an error of a request that may have been charged.
func (a *API) refuseCall(c *Call, err error) {
	status := int(asFault(err).Kind)
	c.settle(status)
	a.limitHeaders(c, status)
	a.refuse(c.echo, err)
}

// run is the one order of checks: limit, body, shape, who, whether, what.
func (a *API) run(c *Call) (Reply, error) {
	if err := a.refuseBlocked(c); err != nil {
		return Reply{}, err
	}
	if err := a.chargeFirst(c); err != nil {
		return Reply{}, err
	}
	if err := a.readBody(c); err != nil {
		return Reply{}, err
	}
	if err := c.route.shapes(c); err != nil {
		return Reply{}, err
	}
	if c.route.Rule != Open {
		if err := a.authorize(c); err != nil {
			return Reply{}, err
		}
	}
	if b := c.route.Body; b != nil && b.late {
		if err := b.check(c); err != nil {
			return Reply{}, err
		}
	}
	reply, err := c.route.Do(c)
	c.told(reply, err)
	if err != nil || c.Issued == nil {
		return reply, err
	}
	return reply, a.chargePrincipal(c, c.Issued)
}

// shapes checks body and query, as Keystone's schemas do before it asks who
// calls.
func (r *Route) shapes(c *Call) error {
	if r.Query != nil {
		if err := r.Query.check(c); err != nil {
			return err
		}
	}
	if r.Body != nil && !r.Body.late {
		if err := r.Body.check(c); err != nil {
			return err
		}
	}
	if r.Check != nil {
		return r.Check(c)
	}
	return nil
}

// authorize finds out who calls and asks the row's rule.
func (a *API) authorize(c *Call) error {
	if err := a.authenticate(c); err != nil {
		return err
	}
	if c.Caller == nil {
		return fault.Denied("the request carries no valid token")
	}
	target := pathTarget(c)
	var missing error
	if c.route.Target != nil {
		loaded, err := c.route.Target(c)
		switch {
		case fault.Is(err, fault.NotFound) && !c.route.TargetFirst:
			missing = err
		case err != nil:
			return err
		}
		for k, v := range loaded {
			target[k] = v
		}
	}
	if len(c.body) > 0 {
		// Under a name of its own: a body cannot pass for what the path or the
		// database says. Rules may ask a server elsewhere: secrets are left out.
		target.AddObject("request_body", withoutSecrets(c.body, c.route.Hidden...))
	}
	if c.route.Query != nil {
		target.AddObject("filter_attr", c.filterAttributes())
	}
	rule := c.route.Rule
	if c.route.Choose != nil && c.route.Choose(c) {
		rule = c.route.Other
	}
	err := c.may(rule, target)
	a.cfg.Metrics.Policy(rule, err == nil)
	if err != nil {
		return err
	}
	return missing
}

// authenticate validates the tokens of the request. Without a valid caller it
// charges the limit by address.
func (a *API) authenticate(c *Call) error {
	if !a.ours(c) {
		// Already charged by chargeFirst; no statement.
		return nil
	}
	check := auth.Check{Caller: c.r.Header.Get("X-Auth-Token"), Opened: c.opened}
	if c.route != nil {
		check.Service = c.r.Header.Get("X-Service-Token")
	}
	if c.route != nil && c.route.Subject {
		check.Subject = c.r.Header.Get("X-Subject-Token")
	}
	if c.route != nil && c.route.Want != nil {
		c.route.Want(c, &check)
	}
	res, err := a.cfg.Auth.Validate(c.Ctx(), check)
	if err != nil {
		return err
	}
	if res.Caller == nil || res.Refused != nil {
		if err := a.chargeRefused(c); err != nil {
			return err
		}
	}
	if res.Refused != nil {
		return res.Refused
	}
	c.Caller, c.Subject, c.SubjectErr = res.Caller, res.Subject, res.SubjectErr
	c.identify(c.Caller)
	return a.chargePrincipal(c, c.Caller)
}

// pathTarget is what every rule may look at: the arguments of the path.
func pathTarget(c *Call) policy.Target {
	target := policy.Target{}
	for _, name := range c.echo.ParamNames() {
		target[name] = c.Param(name)
	}
	return target
}

// hungUp reports whether a request failed because its client went away.
func hungUp(r *http.Request, err error) bool {
	return r.Context().Err() != nil && asFault(err).Kind >= fault.Internal
}
