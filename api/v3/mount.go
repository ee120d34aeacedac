package v3

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// mount gives every row to the router: itself, its HEAD, and the OPTIONS of
// its path.
func (a *API) mount() error {
	var err error
	if a.paths, err = newPatterns(a.cfg.Limits); err != nil {
		return err
	}
	a.stranger = planOf(nil, a.cfg.Limits, a.paths)
	methods := map[string][]string{}
	for _, r := range WithHeads(a.cfg.Routes) {
		r = r.shaped()
		if err := r.fit(); err != nil {
			return fmt.Errorf("route %s %s: %w", r.Method, r.Path, err)
		}
		r.plan = planOf(&r, a.cfg.Limits, a.paths)
		if slices.Contains(methods[r.Path], r.Method) {
			return fmt.Errorf("route %s %s: twice", r.Method, r.Path)
		}
		methods[r.Path] = append(methods[r.Path], r.Method)
		a.rows = append(a.rows, &r)
		a.echo.Add(r.Method, echoPath(r.Path), func(e echo.Context) error {
			a.serve(e, &r)
			return nil
		})
	}
	for path, m := range methods {
		if path == healthPath {
			continue // foldHealth leaves it no OPTIONS
		}
		allow := allowed(m)
		a.echo.Add(http.MethodOptions, echoPath(path), func(e echo.Context) error {
			return a.options(e, path, allow)
		})
	}
	a.echo.HTTPErrorHandler = a.unrouted
	return nil
}

// WithHeads copies the rows and adds HEAD beside each GET that has none: what
// New serves.
func WithHeads(routes []Route) []Route {
	out := slices.Clone(routes)
	for _, r := range routes {
		if r.Method != http.MethodGet || slices.ContainsFunc(routes, func(o Route) bool {
			return o.Method == http.MethodHead && o.Path == r.Path
		}) {
			continue
		}
		r.Method = http.MethodHead
		out = append(out, r)
	}
	return out
}

// fit reports what a row lacks to be served.
func (r *Route) fit() error {
	switch {
	case r.Method == "" || !strings.HasPrefix(r.Path, "/"):
		return errors.New("no method or path")
	case r.Do == nil:
		return errors.New("nothing to do")
	case r.Limit != ratelimit.ClassAuth && r.Limit != ratelimit.ClassToken && r.Limit != ratelimit.ClassExempt:
		return errors.New("no limit class")
	case r.Limit == ratelimit.ClassExempt && r.Exempt == "":
		return errors.New("exempt from limits without a reason")
	case r.Rule == Open && r.Limit == ratelimit.ClassToken:
		return errors.New("open, and yet limited as if it asked for a token")
	case r.Rule != Open && r.Limit != ratelimit.ClassToken:
		return errors.New("asks for a token, and yet limited as if it did not")
	}
	return nil
}

// echoPath writes {name} as :name.
func echoPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

func allowed(methods []string) string {
	m := append(slices.Clone(methods), http.MethodOptions)
	slices.Sort(m)
	return strings.Join(m, ", ")
}

// options answers OPTIONS as Flask does: 200, empty, never limited.
func (a *API) options(e echo.Context, path, allow string) error {
	setRoute(e, path)
	h := e.Response().Header()
	h.Set(echo.HeaderContentType, "text/html; charset=utf-8")
	h.Set(echo.HeaderAllow, allow)
	h.Set(echo.HeaderContentLength, "0")
	setVary(h)
	e.Response().WriteHeader(http.StatusOK)
	return nil
}

// unrouted answers what the router has no row for.
func (a *API) unrouted(err error, e echo.Context) {
	var refusal *echo.HTTPError
	if !errors.As(err, &refusal) {
		a.refuse(e, err)
		return
	}
	if e.Request().Method == http.MethodOptions {
		// oslo.middleware's CORS filter turns what is no success into an empty
		// one, where nothing names the request.
		e.Response().Header().Del("X-Openstack-Request-Id")
		e.Response().Header().Set(echo.HeaderContentLength, "0")
		e.Response().WriteHeader(http.StatusOK)
		return
	}
	c := a.call(e, nil)
	if err := a.chargeStranger(c); err != nil {
		a.refuseCall(c, err)
		return
	}
	if refusal.Code == http.StatusMethodNotAllowed {
		f := fault.New(fault.MethodNotAllowed, "The method is not allowed for the requested URL.")
		// echo hands over the methods of the path, OPTIONS among them.
		allow, _ := e.Get(echo.ContextKeyHeaderAllow).(string)
		f.Header = map[string]string{echo.HeaderAllow: allow}
		a.refuseCall(c, f)
		return
	}
	a.refuseCall(c, noResource())
}

func noResource() error {
	return fault.New(fault.NotFound, "The requested URL was not found on the server.")
}
