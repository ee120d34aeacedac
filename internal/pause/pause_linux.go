package pause

import (
	"syscall"
	"time"
)

// exactly sleeps in the kernel, whose timers are good to some microseconds. A
// signal (the runtime sends them to its own threads) ends a sleep early; what
// was left of it is slept then.
func exactly(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&t, &t) == syscall.EINTR {
	}
}
