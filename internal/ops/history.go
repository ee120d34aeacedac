package ops

import (
	"slices"
	"sync"
	"time"
)

// historyMinutes is how far back the operator's page looks.
const historyMinutes = 60

// history counts refusals a minute, by limiter or scope, for the last hour.
type history struct {
	now func() time.Time

	mu      sync.Mutex
	minutes [historyMinutes]minute
}

type minute struct {
	at     int64 // since 1970
	counts map[string]uint64
}

func (h *history) add(name string) {
	at := h.now().Unix() / 60
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &h.minutes[at%historyMinutes]
	if m.at != at || m.counts == nil {
		*m = minute{at: at, counts: map[string]uint64{}}
	}
	m.counts[name]++
}

// Refusals is how often a limit refused, a number a minute, the oldest first
// and the current minute last.
type Refusals struct {
	Name   string
	Counts [historyMinutes]uint64
	Sum    uint64
}

// last gives the hour that ends now; a limit without a refusal is left out.
func (h *history) last() []Refusals {
	now := h.now().Unix() / 60
	h.mu.Lock()
	defer h.mu.Unlock()
	byName := map[string]*Refusals{}
	for _, m := range h.minutes {
		back := now - m.at
		if back < 0 || back >= historyMinutes {
			continue
		}
		for name, n := range m.counts {
			r := byName[name]
			if r == nil {
				r = &Refusals{Name: name}
				byName[name] = r
			}
			r.Counts[historyMinutes-1-back] += n
			r.Sum += n
		}
	}
	out := make([]Refusals, 0, len(byName))
	for _, r := range byName {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Refusals) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}
