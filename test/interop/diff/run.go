package diff

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Run compares two servers. Each has a database of its own, both copied from
// one, and both use one key repository: a token is valid at both, and what a
// write leaves behind at one is what it leaves at the other.
type Run struct {
	Reference, Ours string            // host:port
	Vars            map[string]string // known to every step, tokens among them
	Lists           Lists
	Report          Report
	// Fail is told what is not listed.
	Fail func(step string, lines []string)

	mu sync.Mutex // of Report and Lists
}

// Report counts what a run compared.
type Report struct {
	Compared, Equal, Listed, Unlisted int
	Reasons                           map[string]int // D-nn: steps
	Statuses                          map[int]int    // of the reference
}

// Plus adds up two reports.
func (r Report) Plus(o Report) Report {
	out := Report{
		Compared: r.Compared + o.Compared, Equal: r.Equal + o.Equal, Listed: r.Listed + o.Listed,
		Unlisted: r.Unlisted + o.Unlisted, Reasons: map[string]int{}, Statuses: map[int]int{},
	}
	for _, x := range []Report{r, o} {
		for k, n := range x.Reasons {
			out.Reasons[k] += n
		}
		for k, n := range x.Statuses {
			out.Statuses[k] += n
		}
	}
	return out
}

func (r Report) String() string {
	var reasons []string
	for _, k := range slices.Sorted(maps.Keys(r.Reasons)) {
		reasons = append(reasons, fmt.Sprintf("%s %d", k, r.Reasons[k]))
	}
	return fmt.Sprintf("%d compared, %d equal, %d listed (%s), %d not listed", r.Compared, r.Equal, r.Listed, strings.Join(reasons, ", "), r.Unlisted)
}

// pair is what both servers answered to a step.
type pair struct{ reference, ours Answer }

// Scenario runs the steps in order.
func (r *Run) Scenario(ctx context.Context, s Scenario) error {
	a, b := map[string]string{}, map[string]string{}
	maps.Copy(a, r.Vars)
	maps.Copy(b, r.Vars)
	kept := map[string]bool{}
	for _, st := range s.Steps {
		time.Sleep(time.Duration(st.Wait) * time.Millisecond)
		var p pair
		for range max(1, st.Times) {
			var err error
			if p, err = r.both(ctx, st, a, b); err != nil {
				return fmt.Errorf("%s/%s: %w", s.Name, st.Name, err)
			}
		}
		lines := Compare(st.Method, masked(p.reference, a, kept), masked(p.ours, b, kept))
		if st.Status != 0 && p.reference.Status != st.Status {
			lines = append(lines, fmt.Sprintf("want: status %d of the reference, not %s", st.Status, brief(p.reference)))
		}
		r.judge(s.Name+"/"+st.Name, p.reference.Status, lines)
		for name, from := range st.Keep {
			if err := keep(a, name, from, p.reference); err != nil {
				return fmt.Errorf("%s/%s: reference: %w", s.Name, st.Name, err)
			}
			if err := keep(b, name, from, p.ours); err != nil {
				return fmt.Errorf("%s/%s: ours: %w", s.Name, st.Name, err)
			}
			kept[name] = true
		}
	}
	return nil
}

// both sends a step to the two servers at once.
func (r *Run) both(ctx context.Context, st Step, a, b map[string]string) (pair, error) {
	var p pair
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() { p.reference, errs[0] = send(ctx, r.Reference, st, a) })
	both.Go(func() { p.ours, errs[1] = send(ctx, r.Ours, st, b) })
	both.Wait()
	for _, err := range errs {
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// Do sends one step to both servers and counts what comes of it. It may be
// called by several goroutines.
func (r *Run) Do(ctx context.Context, scenario string, st Step, vars map[string]string) error {
	p, err := r.both(ctx, st, vars, vars)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", scenario, st.Name, err)
	}
	r.judge(scenario+"/"+st.Name, p.reference.Status, Compare(st.Method, p.reference, p.ours))
	return nil
}

// Judge counts what a comparison of another kind gave, against the lists as the
// steps are.
func (r *Run) Judge(step string, lines []string) { r.judge(step, 0, lines) }

func (r *Run) judge(step string, status int, lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	listed, open := r.Lists.split(step, lines)
	if r.Report.Reasons == nil {
		r.Report.Reasons, r.Report.Statuses = map[string]int{}, map[int]int{}
	}
	r.Report.Compared++
	r.Report.Statuses[status]++
	switch {
	case len(open) > 0:
		r.Report.Unlisted++
		r.Fail(step, open)
	case len(listed) > 0:
		r.Report.Listed++
		slices.Sort(listed)
		for _, reason := range slices.Compact(listed) {
			r.Report.Reasons[reason]++
		}
	default:
		r.Report.Equal++
	}
}

// masked puts the names of kept values in the place of the values.
func masked(a Answer, vars map[string]string, kept map[string]bool) Answer {
	out := Answer{Status: a.Status, Header: http.Header{}, Body: a.Body, Broken: a.Broken}
	for name := range kept {
		out.Body = strings.ReplaceAll(out.Body, vars[name], "<"+name+">")
	}
	for k, values := range a.Header {
		for _, v := range values {
			for name := range kept {
				v = strings.ReplaceAll(v, vars[name], "<"+name+">")
			}
			out.Header.Add(k, v)
		}
	}
	return out
}

// keep remembers a part of an answer.
func keep(vars map[string]string, name, from string, a Answer) error {
	kind, what, _ := strings.Cut(from, " ")
	value := ""
	switch kind {
	case "header":
		value = a.Header.Get(what)
	case "body":
		var v any
		if err := json.Unmarshal([]byte(a.Body), &v); err == nil {
			value, _ = at(v, strings.Split(what, ".")).(string)
		}
	}
	if value == "" {
		return fmt.Errorf("nothing to keep as %s at %q: %s", name, from, brief(a))
	}
	vars[name] = value
	return nil
}

func at(v any, path []string) any {
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}
