package ratelimit

import "time"

// Refusal is what a refused caller is told, the same whichever limit refused;
// the wait stands in the Retry-After header alone.
const Refusal = "Too many requests. Wait before you try again."

// RetryAfter is the value of a Retry-After header for a wait: whole seconds,
// rounded up so that an obedient client is not refused again, at least 1.
func RetryAfter(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return int(max(seconds, 1))
}
