package ops

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Probe is one thing that must work before traffic is welcome. It must not
// depend on LDAP, a message bus or a cache: a cloud is still half alive
// without them.
type Probe struct {
	Name  string
	Check func(context.Context) error
	// Degrades says that the server is still of use when this fails: it answers
	// "degraded" then and stays ready. Such a check logs for itself.
	Degrades bool
}

// Admin answers on the admin listener.
type Admin struct {
	metrics *Metrics
	probes  []Probe
	log     *slog.Logger

	profiles atomic.Bool
	desk     atomic.Pointer[Desk]

	mu       sync.Mutex
	draining bool
	asked    time.Time
	failures []error
}

// NewAdmin makes the answers of the admin listener. What a failing probe says
// goes to the log and to ?verbose readers, who are on the admin listener.
func NewAdmin(m *Metrics, log *slog.Logger, probes ...Probe) *Admin {
	return &Admin{metrics: m, probes: probes, log: log}
}

// Drain makes the server not ready from now on.
func (a *Admin) Drain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.draining = true
}

// Profile switches /debug/pprof/ on or off.
func (a *Admin) Profile(on bool) { a.profiles.Store(on) }

// Show gives the operator's page what it tells of limits.
func (a *Admin) Show(d Desk) { a.desk.Store(&d) }

// Handler serves GET /metrics, /livez and /readyz, pprof by Profile, and, to
// callers from this host, the operator's page on / and /ratelimit. Nothing
// behind it changes anything.
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("GET /{$}", fromHere(a.page))
	mux.HandleFunc("GET /ratelimit", fromHere(a.limits))
	for path, h := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.HandleFunc("/debug/pprof/"+path, func(w http.ResponseWriter, r *http.Request) {
			if !a.profiles.Load() {
				http.NotFound(w, r)
				return
			}
			h(w, r)
		})
	}
	return mux
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, text)
}

// Probes are asked at most once a second and get probeTime to answer, however
// many ask.
const (
	probeEvery = time.Second
	probeTime  = 2 * time.Second
)

func (a *Admin) ready(w http.ResponseWriter, r *http.Request) {
	failures, draining := a.probe(context.WithoutCancel(r.Context()))
	status, text, lines := http.StatusOK, "ok\n", []string{}
	for i, p := range a.probes {
		word := "ok"
		switch {
		case failures[i] == nil:
		case p.Degrades:
			text, word = "degraded\n", "degraded: "+failures[i].Error()
		default:
			status, word = http.StatusServiceUnavailable, "failed: "+failures[i].Error()
		}
		lines = append(lines, p.Name+" "+word)
	}
	if draining {
		status, lines = http.StatusServiceUnavailable, append(lines, "draining")
	}
	if status != http.StatusOK {
		text = "not ready\n"
	}
	if r.URL.Query().Has("verbose") {
		text = strings.Join(append(lines, text), "\n")
	}
	say(w, status, text)
}

func (a *Admin) probe(ctx context.Context) (failures []error, draining bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failures != nil && time.Since(a.asked) < probeEvery {
		return a.failures, a.draining
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	a.failures = make([]error, len(a.probes))
	for i, p := range a.probes {
		if a.failures[i] = p.Check(ctx); a.failures[i] != nil && !p.Degrades {
			a.log.WarnContext(ctx, "not ready", "probe", p.Name, "error", a.failures[i])
		}
	}
	a.asked = time.Now()
	return a.failures, a.draining
}
