package ops

import (
	"context"
	"time"
)

// Desk tells an operator how the limits stand. What it says of callers is
// hashed unless the configuration allows more; it changes nothing.
type Desk interface {
	// Limiters lists those that are built, each with its top debtors.
	Limiters(ctx context.Context, top int) ([]LimiterView, error)
	// Standing tells how a caller stands with each limiter that could know
	// him, and charges nothing.
	Standing(ctx context.Context, s Subject) ([]Standing, error)
	// Lockouts lists accounts that failed logins have locked.
	Lockouts(ctx context.Context) (list []Lockout, truncated bool, err error)
}

// LimiterView is a limiter as an operator sees it.
type LimiterView struct {
	Name      string `json:"name"`
	Mode      string `json:"mode"`
	Backend   string `json:"backend"`
	Keyed     string `json:"keyed_by"`
	Burst     int64  `json:"burst"`
	Rate      int64  `json:"rate"`
	Period    string `json:"period"`
	Entries   int    `json:"entries"`
	Capacity  int    `json:"capacity"`
	Allowed   uint64 `json:"allowed"`
	Refused   uint64 `json:"refused"`
	Evictions uint64 `json:"evicted_with_debt"`

	Debtors []Debtor `json:"debtors"`
}

// Debtor is a key that owes.
type Debtor struct {
	Key   string  `json:"key"`
	Debt  int64   `json:"debt"`
	Retry float64 `json:"retry_seconds"`
	Reset float64 `json:"reset_seconds"`
}

// Standing is how one caller stands with one limiter.
type Standing struct {
	Limiter   string  `json:"limiter"`
	Key       string  `json:"key"`
	Remaining int64   `json:"remaining"`
	Burst     int64   `json:"burst"`
	Retry     float64 `json:"retry_seconds"`
	Reset     float64 `json:"reset_seconds"`
}

// Lockout is an account that failed logins have locked.
type Lockout struct {
	UserID   string     `json:"user_id"`
	DomainID string     `json:"domain_id"`
	Failures int        `json:"failures"`
	Last     *time.Time `json:"last_failure_at"`
	Until    *time.Time `json:"locked_until"`
}

// Subject names a caller: by id, by name in a domain, by address, or by user
// and address together.
type Subject struct{ UserID, Name, DomainID, Address string }

// Empty reports whether the subject names nobody.
func (s Subject) Empty() bool { return s.UserID == "" && s.Name == "" && s.Address == "" }
