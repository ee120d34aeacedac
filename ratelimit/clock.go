package ratelimit

import "time"

// start is the process's zero of time. One zero for all limiters lets a single
// reading serve them all.
var start = time.Now()

// Monotonic is the clock of limiters that were given none: the time since the
// process started, by a clock that steps of the system time do not move.
func Monotonic() time.Duration { return time.Since(start) }
