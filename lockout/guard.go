// Package lockout counts failed logins and locks accounts, on the columns and
// by the rules of Python Keystone (keystone/identity/backends/sql.py), made
// safe for many guesses at once: every count is one conditional statement.
package lockout

import (
	"context"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Policy is [security_compliance] as it concerns locking.
type Policy struct {
	Attempts *int          // failures that lock; nil: never
	Duration time.Duration // how long; 0: until an administrator unlocks
}

// State is what the user row says.
type State struct {
	LocalID  int64
	Failures int
	FailedAt *time.Time
	Exempt   bool // user option ignore_lockout_failure_attempts
}

// Guard applies a policy.
type Guard struct {
	Policy Policy
	Now    func() time.Time
}

func (g Guard) counts(s State) bool { return g.Policy.Attempts != nil && !s.Exempt }

// Locked tells whether a login must be refused whatever its password.
func (g Guard) Locked(s State) bool {
	return g.full(s) && !g.over(s)
}

// Expired tells whether the account was locked and the time is over: the count
// is cleared before the password is looked at.
func (g Guard) Expired(s State) bool {
	return g.full(s) && g.over(s)
}

func (g Guard) full(s State) bool {
	return g.counts(s) && s.Failures >= *g.Policy.Attempts
}

func (g Guard) over(s State) bool {
	if g.Policy.Duration <= 0 {
		return false
	}
	return s.FailedAt == nil || !s.FailedAt.Add(g.Policy.Duration).After(g.Now())
}

// Release clears the count of a lock that has run out. Of many at once one
// clears; a newer lock stays.
func (g Guard) Release(ctx context.Context, c db.Conn, s State) error {
	_, err := c.Exec(ctx, `update local_user set failed_auth_count = $1, failed_auth_at = $2
where id = $3 and failed_auth_count >= $4 and (failed_auth_at is null or failed_auth_at <= $5)`,
		0, nil, s.LocalID, *g.Policy.Attempts, g.Now().Add(-g.Policy.Duration))
	if err != nil {
		return fmt.Errorf("clear an expired lock: %w", err)
	}
	return nil
}

const (
	addOne       = `update local_user set failed_auth_count = coalesce(failed_auth_count, 0) + 1, failed_auth_at = $1 where id = $2`
	clearAll     = `update local_user set failed_auth_count = $1, failed_auth_at = $2 where id = $3`
	belowLimit   = ` and coalesce(failed_auth_count, 0) < `
	failureState = `select l.failed_auth_count, l.failed_auth_at from local_user l where l.id = $1`
)

// Fail counts one wrong password, unless the account was locked meanwhile.
func (g Guard) Fail(ctx context.Context, c db.Conn, s State) error {
	text, args := addOne, []any{g.Now(), s.LocalID}
	if g.counts(s) {
		text, args = addOne+belowLimit+`$3`, append(args, *g.Policy.Attempts)
	}
	if _, err := c.Exec(ctx, text, args...); err != nil {
		return fmt.Errorf("count a failed login: %w", err)
	}
	return nil
}

// Clear queues the statement that forgets the failures after a right
// password. Open on its result: false means the account was locked meanwhile.
func (g Guard) Clear(b *db.Batch, s State) *db.Affected {
	if g.counts(s) {
		return b.Exec(clearAll+belowLimit+`$4`, 0, nil, s.LocalID, *g.Policy.Attempts)
	}
	return b.Exec(clearAll, 0, nil, s.LocalID)
}

// Recheck reads the state anew, for a right password that has nothing to
// clear: guesses that ran beside it may have locked the account.
func (g Guard) Recheck(s State) db.Query[State] {
	return db.Query[State]{
		Text: failureState,
		Args: []any{s.LocalID},
		Scan: func(r db.Row) (State, error) {
			var count *int64
			now := s
			err := r.Scan(&count, &now.FailedAt)
			now.Failures = 0
			if count != nil {
				now.Failures = int(*count)
			}
			return now, err
		},
	}
}
