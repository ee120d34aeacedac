package pause_test

import (
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/keystone-go/keystone-go/internal/pause"
)

// TestUntilThroughSignals: signals, as the runtime sends them to a thread whose
// goroutine is wanted, cut no wait short.
func TestUntilThroughSignals(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, tid := syscall.Getpid(), syscall.Gettid()
	var sender sync.WaitGroup
	end := make(chan struct{})
	sender.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				if err := unix.Tgkill(pid, tid, unix.SIGURG); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	for range 40 {
		at := now() + 1400*time.Microsecond
		pause.Until(t.Context(), now, at)
		if over := now() - at; over < 0 {
			t.Errorf("%v early", -over)
		}
	}
	close(end)
	sender.Wait()
}
