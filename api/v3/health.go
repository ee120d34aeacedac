package v3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/health"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// healthPath answers balancers; it asks no database. Python mounts it as an
// application of its own, so every method and every path below it is its.
const healthPath = "/healthcheck"

const forBalancers = "balancers ask it all the time and decide by it"

// foldHealth gives what the health check answers the method and path of its
// row.
func foldHealth(method, path string) (string, string) {
	if path != healthPath && !strings.HasPrefix(path, healthPath+"/") {
		return method, path
	}
	if method != http.MethodHead {
		method = http.MethodGet
	}
	return method, healthPath
}

// healthcheck answers as oslo.middleware's health check does.
type healthcheck struct {
	checks *health.Checks
	now    func() time.Time
}

func (h healthcheck) routes() []Route {
	return []Route{
		{Method: "GET", Path: healthPath, Rule: Open, Limit: ratelimit.ClassExempt, Exempt: forBalancers, Do: h.get},
		{Method: "HEAD", Path: healthPath, Rule: Open, Limit: ratelimit.ClassExempt, Exempt: forBalancers, Do: h.head},
	}
}

// proxyHeaders are the headers of a request that came through a proxy.
var proxyHeaders = []string{"X-Forwarded", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "X-Forwarded-Prefix"}

// run asks the checks. Who may not ask finds nothing.
func (h healthcheck) run(c *Call) ([]health.Result, bool, error) {
	if !h.checks.Allows(c.Addr) {
		return nil, false, noResource()
	}
	if h.checks != nil && h.checks.IgnoreProxied {
		for _, name := range proxyHeaders {
			if c.Request().Header.Get(name) != "" {
				return nil, false, noResource()
			}
		}
	}
	port := 0
	if a, ok := c.Ctx().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		port = a.Port
	}
	results, healthy := h.checks.Run(port)
	return results, healthy, nil
}

func (h healthcheck) head(c *Call) (Reply, error) {
	_, healthy, err := h.run(c)
	switch {
	case err != nil:
		return Reply{}, err
	case healthy:
		return noContent(), nil
	}
	return page(http.StatusServiceUnavailable, "text/plain", nil), nil
}

func page(status int, media string, body []byte) Reply {
	if media != mediaJSON {
		media += "; charset=UTF-8"
	}
	return Reply{Status: status, Header: http.Header{"Content-Type": {media}}, Body: body}
}

func (h healthcheck) get(c *Call) (Reply, error) {
	results, healthy, err := h.run(c)
	if err != nil {
		return Reply{}, err
	}
	status := http.StatusOK
	if !healthy {
		status = http.StatusServiceUnavailable
	}
	switch media := bestMatch(c.Request().Header.Get("Accept"), "text/plain", "text/html", mediaJSON); media {
	case "text/html":
		return page(status, media, h.html(h.checks.Details(results))), nil
	case mediaJSON:
		body, err := h.json(h.checks.Details(results))
		return page(status, media, body), err
	default: // also what nobody accepts: an error would mislead balancers
		return page(status, "text/plain", []byte(strings.Join(reasons(results), "\n"))), nil
	}
}

func reasons(results []health.Result) []string {
	list := make([]string, 0, len(results))
	for _, r := range results {
		list = append(list, r.Reason)
	}
	return list
}

func (h healthcheck) detailed() bool { return h.checks != nil && h.checks.Detailed }

// json is json.dumps(indent=4, sort_keys=True) of the results. With details it
// has Python's keys, as far as there is something to say; stacks are never
// shown on the public listener.
func (h healthcheck) json(results []health.Result) ([]byte, error) {
	body := pyjson.Object{{Key: "detailed", Value: h.detailed()}, {Key: "reasons", Value: reasons(results)}}
	if h.detailed() {
		list := make([]pyjson.Object, 0, len(results))
		for _, r := range results {
			list = append(list, pyjson.Object{{Key: "class", Value: resultClass}, {Key: "details", Value: r.Details}, {Key: "reason", Value: r.Reason}})
		}
		n, threshold := collections()
		body = body.Set("reasons", list)
		body = body.Set("gc", pyjson.Object{{Key: "counts", Value: []any{n, 0, 0}}, {Key: "threshold", Value: []any{threshold, 0, 0}}})
		body = body.Set("greenthreads", []string{}).Set("threads", []string{})
		body = body.Set("now", h.time()).Set("platform", platform()).Set("python_version", noPython())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, pyjson.AppendCompact(nil, body), "", "    "); err != nil {
		return nil, fmt.Errorf("indent: %w", err)
	}
	return out.Bytes(), nil
}

const resultClass = "HealthcheckResult"

// collections are the garbage collector's runs, and the growth in percent that
// starts one.
func collections() (runs, threshold int) {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return int(s.NumGC), 100
}

func (h healthcheck) time() string { return h.now().UTC().Format("2006-01-02 15:04:05.000000") }
func platform() string             { return runtime.GOOS + "-" + runtime.GOARCH }
func noPython() string             { return "none: keystone-go, " + runtime.Version() }

func (h healthcheck) html(results []health.Result) []byte {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<title>Healthcheck Status</title>\n")
	if h.detailed() {
		host, err := os.Hostname()
		if err != nil {
			host = "-"
		}
		n, _ := collections()
		b.WriteString("<h1>Server status</h1>\n<dl>\n")
		for _, row := range [][2]string{
			{"Server hostname", host},
			{"Current time", h.time()},
			{"Python version", noPython()},
			{"Platform", platform()},
			{"Garbage collections", fmt.Sprint(n)},
		} {
			fmt.Fprintf(&b, "<dt>%s<dd>%s\n", row[0], html.EscapeString(row[1]))
		}
		b.WriteString("</dl>\n")
	}
	fmt.Fprintf(&b, "<h2>Result of %d checks:</h2>\n<table>\n", len(results))
	for _, r := range results {
		b.WriteString("<tr>")
		if h.detailed() {
			fmt.Fprintf(&b, "<td>%s", resultClass)
		}
		fmt.Fprintf(&b, "<td>%s", html.EscapeString(r.Reason))
		if h.detailed() {
			fmt.Fprintf(&b, "<td>%s", html.EscapeString(r.Details))
		}
		b.WriteString("\n")
	}
	b.WriteString("</table>\n")
	return []byte(b.String())
}
