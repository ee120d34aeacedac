// Package pause waits for a time that somebody may measure from outside.
package pause

import (
	"context"
	"time"
)

// tail is how much of a wait the runtime's timers are not trusted with: an
// idle process waits for them in whole milliseconds.
const tail = 1500 * time.Microsecond

// Until waits for the moment at which now reads at, as exactly as the system
// can, or until the context ends. It returns at once when that has passed.
func Until(ctx context.Context, now func() time.Duration, at time.Duration) {
	if rough := at - now() - tail; rough > 0 {
		t := time.NewTimer(rough)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
	if rest := at - now(); rest > 0 && rest <= 2*tail {
		exactly(rest)
	}
}
