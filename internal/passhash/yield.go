package passhash

import (
	"runtime"
	"runtime/metrics"
)

// runnable asks the scheduler, in some 50 ns, who waits for a core.
type runnable [1]metrics.Sample

func newRunnable() runnable { return runnable{{Name: "/sched/goroutines/runnable:goroutines"}} }

// yield lets the others run, if there are any: giving the core away for nothing
// moves the hash between the cores, which costs it some 10 µs each time.
func (r *runnable) yield() {
	metrics.Read(r[:])
	if r[0].Value.Kind() != metrics.KindUint64 || r[0].Value.Uint64() > 0 {
		runtime.Gosched()
	}
}
