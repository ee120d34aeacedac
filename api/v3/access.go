package v3

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/trace"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// visit is what the server itself remembers about a request, routed or not.
type visit struct {
	addr  netip.Addr
	how   clientaddr.How
	base  string
	route string // template, "" for none
	gone  bool   // the client hung up before its answer
	read  bool   // the body has been read to its end
	span  *trace.Span
}

const visitKey = "keystone.visit"

// statusGone is what is logged for a client that hung up (nginx's 499).
const statusGone = 499

func setRoute(e echo.Context, path string) { e.Get(visitKey).(*visit).route = path }

// globalForm is the only form in which a caller's id is taken over
// (oslo.middleware's request_id).
var globalForm = regexp.MustCompile(`^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// newTrace names the request. A caller's id becomes the global one, for logs
// alone.
func newTrace(r *http.Request) *olog.Request {
	t := &olog.Request{ID: olog.NewRequestID(), Agent: r.UserAgent()}
	if id := r.Header.Get("X-Openstack-Request-Id"); globalForm.MatchString(id) {
		t.GlobalID = id
	}
	return t
}

// identify tells the log who calls, or who has just logged in.
func (c *Call) identify(id *auth.Identity) {
	if id == nil {
		return
	}
	t := c.trace
	t.User, t.UserDomain = id.User.ID, id.User.DomainID
	t.UserName, t.UserDomainName = id.User.Name, id.User.DomainName
	if id.Project != nil {
		t.Project, t.ProjectDomain = id.Project.ID, id.Project.DomainID
		t.ProjectName, t.ProjectDomainName = id.Project.Name, id.Project.Domain.Name
	}
	if id.Domain != nil {
		t.Domain, t.DomainName = id.Domain.ID, id.Domain.Name
	}
	if id.Token != nil {
		t.System = id.Token.System
	}
}

// finished counts a request and writes its access line. The query is left
// out, since it may hold secrets.
func (a *API) finished(e echo.Context, v *visit, took time.Duration) {
	r, w := e.Request(), e.Response()
	status := w.Status
	if v.gone && !w.Committed {
		status = statusGone
	}
	a.cfg.Metrics.Request(r.Method, v.route, status, took)
	a.traced(r, v, status)
	line := fmt.Sprintf("%s %q status: %d len: %d time: %.6f", shownAddress(v.addr), r.Method+" "+a.cfg.PathPrefix+r.URL.Path+" "+r.Proto, status, w.Size, took.Seconds())
	a.cfg.Log.LogAttrs(r.Context(), slog.LevelInfo, line, olog.Name("keystone.access"))
}

// traced ends the request's part of a trace. Nothing in it says who called.
func (a *API) traced(r *http.Request, v *visit, status int) {
	if v.span == nil {
		return
	}
	name, failed := r.Method, ""
	if v.route != "" {
		name += " " + v.route
	}
	if status >= http.StatusInternalServerError {
		failed = http.StatusText(status)
	}
	t := olog.FromContext(r.Context())
	attrs := []trace.Attr{
		trace.String("http.request.method", r.Method), trace.Int("http.response.status_code", status),
		trace.String("openstack.request_id", t.ID),
	}
	if v.route != "" {
		attrs = append(attrs, trace.String("http.route", v.route))
	}
	if t.GlobalID != "" {
		attrs = append(attrs, trace.String("openstack.global_request_id", t.GlobalID))
	}
	v.span.End(name, failed, a.cfg.Now(), attrs...)
}

func shownAddress(a netip.Addr) string {
	if !a.IsValid() {
		return "-"
	}
	return a.String()
}
