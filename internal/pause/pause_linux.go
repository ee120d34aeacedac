package pause

import (
	"syscall"
	"time"
)

// exactly sleeps in the kernel, whose timers are good to some microseconds. A
// signal may end it early.
func exactly(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, &t)
}
