package ratelimit

import (
	"fmt"
	"time"
)

// Spec describes a limiter to the constructor of its store.
type Spec struct {
	// Name is the limiter's, unique in the process; a shared store puts it
	// before its keys.
	Name  string
	Quota Quota
	// Algorithm is how the quota is held; empty means GCRA.
	Algorithm Algorithm
	// Mode is whether refusals count; empty means Enforce.
	Mode Mode
	// MaxEntries is the most keys that a store in this process may hold.
	MaxEntries int
	// Overflow is what becomes of new keys while a flood fills a store in
	// this process; empty means Evict.
	Overflow Overflow
	// IPv4Prefix and IPv6Prefix are the lengths to which addresses are cut
	// before they become keys; zero means 32 and 64.
	IPv4Prefix, IPv6Prefix int
	// Now is a clock that never goes back, read as the time since a fixed
	// point; nil means Monotonic. Shared stores have
	// a clock of their own and ignore it.
	Now func() time.Duration
	// Observe is told the outcome of each check, for metrics; nil means that
	// nobody is. It is called on the way of every request and must not wait.
	Observe func(limiter, outcome string)
}

// Algorithm names a way to hold a quota. Both admit at most the burst at once.
type Algorithm string

// The algorithms.
const (
	// GCRA refills steadily: after a burst, a unit comes back each period /
	// rate. In the worst case a window admits twice the burst.
	GCRA Algorithm = "gcra"
	// SlidingWindow admits at most the burst in any Quota.Window.
	SlidingWindow Algorithm = "sliding_window"
)

// Overflow names what a full store does with new keys in a flood.
type Overflow string

// What becomes of new keys.
const (
	// Evict gives up the key seen least recently, always.
	Evict Overflow = "evict"
	// Shared charges new keys to one bucket of the limiter's quota, as soon
	// as more keys were given up in a second than a normal day explains.
	Shared Overflow = "shared"
	// Deny refuses new keys instead.
	Deny Overflow = "deny"
)

// Mode says whether a limiter's refusals count.
type Mode string

// The modes of a limiter that is on.
const (
	// Enforce refuses what is over the quota.
	Enforce Mode = "enforce"
	// Shadow counts what it would refuse, and refuses nothing.
	Shadow Mode = "shadow"
)

// Outcomes of a check, as Spec.Observe is told them.
const (
	Allowed        = "allowed"
	Rejected       = "rejected"
	ShadowRejected = "shadow_rejected"
	Exempt         = "exempt"
	Fallback       = "fallback"
	Failed         = "error"
)

// withDefaults fills what was left out, or says what is out of bounds.
func (s Spec) withDefaults() (Spec, error) {
	if s.IPv4Prefix == 0 {
		s.IPv4Prefix = 32
	}
	if s.IPv6Prefix == 0 {
		s.IPv6Prefix = 64
	}
	if s.Now == nil {
		s.Now = Monotonic
	}
	s.Algorithm = orElse(s.Algorithm, GCRA)
	s.Mode = orElse(s.Mode, Enforce)
	s.Overflow = orElse(s.Overflow, Evict)
	if _, err := s.Meter(s.Quota); err != nil {
		return s, err
	}
	switch {
	case s.IPv4Prefix < 0 || s.IPv4Prefix > 32 || s.IPv6Prefix < 0 || s.IPv6Prefix > 128:
		return s, fmt.Errorf("no such prefix length: /%d for IPv4, /%d for IPv6", s.IPv4Prefix, s.IPv6Prefix)
	case s.Algorithm != GCRA && s.Algorithm != SlidingWindow:
		return s, fmt.Errorf("no such algorithm: %s", s.Algorithm)
	case s.Mode != Enforce && s.Mode != Shadow:
		return s, fmt.Errorf("no such mode: %s", s.Mode)
	case s.Overflow != Evict && s.Overflow != Shared && s.Overflow != Deny:
		return s, fmt.Errorf("no such overflow: %s", s.Overflow)
	}
	return s, nil
}

// Meter is the arithmetic of the spec's algorithm for a quota: GCRA, or the
// counter of a sliding window.
func (s Spec) Meter(q Quota) (Meter, error) {
	if s.Algorithm == SlidingWindow {
		return NewCounter(q)
	}
	return NewMeter(q)
}

func orElse[T ~string](v, usual T) T {
	if v == "" {
		return usual
	}
	return v
}
