package ops

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"seconds": seconds, "clock": clock, "share": share, "quota": quota, "bars": bars,
}).Parse(pageText))

// pagePolicy lets the page's own style in and nothing else: no script, no
// picture, nothing from anywhere.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

const (
	// usualTop is how many debtors are shown; mostTop how many may be asked for.
	usualTop, mostTop = 20, 1000
	// deskTime is how long the page may wait for its answers.
	deskTime = 5 * time.Second
)

// local reports whether a request may see how callers stand: it comes from
// this host, and it was not a web page of somebody else that sent the browser
// here under a name of its own (DNS rebinding).
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host == "" || host == "@" || strings.HasPrefix(host, "/") // a unix socket
	}
	return addr.Unmap().IsLoopback() && localName(r.Host)
}

func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// fromHere lets the callers of local in.
func fromHere(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			say(w, http.StatusForbidden, "This is shown on the server's own host alone.\n")
			return
		}
		next(w, r)
	}
}

// view is what the page shows.
type view struct {
	Style      template.CSS
	Version    string
	At         time.Time
	Asked      Subject
	Standing   []Standing
	Complaint  string
	Refresh    bool
	Limiters   []LimiterView
	Refusals   []Refusals
	Gate       passhash.Stats
	Lockouts   []Lockout
	MoreLocked bool
}

// Owed is a debtor with the limiter that he owes to.
type Owed struct {
	Limiter string
	Debtor
}

// Hottest are the debtors of all limiters, the longest wait first.
func (v view) Hottest() []Owed {
	var out []Owed
	for _, l := range v.Limiters {
		for _, d := range l.Debtors {
			out = append(out, Owed{l.Name, d})
		}
	}
	slices.SortStableFunc(out, func(a, b Owed) int {
		return cmp.Or(cmp.Compare(b.Retry, a.Retry), cmp.Compare(b.Reset, a.Reset))
	})
	return out[:min(len(out), usualTop)]
}

func (a *Admin) page(w http.ResponseWriter, r *http.Request) {
	v := view{Style: template.CSS(pageStyle), At: a.metrics.history.now(), Refresh: r.URL.Query().Has("refresh")}
	v.Version = a.metrics.sources.Version
	v.Refusals = a.metrics.history.last()
	if gate := a.metrics.sources.Gate; gate != nil {
		v.Gate = gate()
	}
	ctx, cancel := context.WithTimeout(r.Context(), deskTime)
	defer cancel()
	if err := a.fill(ctx, &v, subjectOf(r)); err != nil {
		v.Complaint = a.told(ctx, err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		a.log.ErrorContext(ctx, "the operator's page", "error", err)
		say(w, http.StatusInternalServerError, "The page could not be made; the log says why.\n")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(b.Bytes())
}

// fill asks the desk; what could be had is shown with what went wrong.
func (a *Admin) fill(ctx context.Context, v *view, s Subject) error {
	desk := a.desk.Load()
	if desk == nil {
		return errors.New("there is no server yet")
	}
	var err1, err2, err3 error
	v.Limiters, err1 = (*desk).Limiters(ctx, usualTop)
	v.Lockouts, v.MoreLocked, err2 = (*desk).Lockouts(ctx)
	if v.Asked = s; !s.Empty() {
		v.Standing, err3 = (*desk).Standing(ctx, s)
	}
	return errors.Join(err1, err2, err3)
}

// told is what of an error the page says; the log has the rest.
func (a *Admin) told(ctx context.Context, err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	a.log.ErrorContext(ctx, "the limits could not be shown", "error", err)
	return "Not all could be read; the log says why."
}

func subjectOf(r *http.Request) Subject {
	q := r.URL.Query()
	return Subject{UserID: q.Get("user_id"), Name: q.Get("name"), DomainID: q.Get("domain_id"), Address: q.Get("address")}
}

// limits answers GET /ratelimit with what the page shows of limits, as JSON.
func (a *Admin) limits(w http.ResponseWriter, r *http.Request) {
	desk := a.desk.Load()
	if desk == nil {
		say(w, http.StatusServiceUnavailable, "There is no server yet.\n")
		return
	}
	top, err := TopOf(r.URL.Query().Get("top"))
	if err != nil {
		say(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), deskTime)
	defer cancel()
	var answer struct {
		Limiters []LimiterView `json:"limiters"`
		Standing []Standing    `json:"standing,omitempty"`
	}
	answer.Limiters, err = (*desk).Limiters(ctx, top)
	if s := subjectOf(r); err == nil && !s.Empty() {
		answer.Standing, err = (*desk).Standing(ctx, s)
	}
	if err != nil {
		status := http.StatusInternalServerError
		if f, ok := errors.AsType[*fault.Error](err); ok {
			status = int(f.Kind)
		}
		say(w, status, a.told(ctx, err)+"\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}

// TopOf reads how many debtors are asked for.
func TopOf(text string) (int, error) {
	if text == "" {
		return usualTop, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > mostTop {
		return 0, fmt.Errorf("top is not a whole number in 0..%d", mostTop)
	}
	return n, nil
}

// seconds writes a time that is to pass.
func seconds(s float64) string {
	if s <= 0 {
		return "–"
	}
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond).String()
}

func clock(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// share is a part of a whole in percent.
func share(part, whole int) int {
	if whole <= 0 {
		return 0
	}
	return min(100, part*100/whole)
}

func quota(l LimiterView) string {
	period := l.Period
	for _, none := range []string{"m0s", "h0m"} { // as time.Duration writes whole minutes and hours
		if rest, ok := strings.CutSuffix(period, none); ok {
			period = rest + none[:1]
		}
	}
	return fmt.Sprintf("%d at once, %d each %s", l.Burst, l.Rate, period)
}

// bar is a column of the chart, in its units.
type bar struct {
	X, Y, Height int
	Label        string
}

const chartHeight = 100

// bars are the columns of an hour.
func bars(r Refusals) []bar {
	most := slices.Max(r.Counts[:])
	var out []bar
	for i, n := range r.Counts {
		if n == 0 {
			continue
		}
		h := max(2, int(n*chartHeight/most))
		out = append(out, bar{X: i * 10, Y: chartHeight - h, Height: h, Label: fmt.Sprintf("%d refused, %d minutes ago", n, historyMinutes-1-i)})
	}
	return out
}
