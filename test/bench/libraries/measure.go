package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// newTexts makes ids of users: 32 hexadecimal digits.
func newTexts(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, n)
	for i := range texts {
		var b [16]byte
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		texts[i] = hex.EncodeToString(b[:])
	}
	return texts
}

// opened is a limiter with all keys in it.
type opened struct {
	name string
	limiter
}

// open makes every limiter, and checks each key so often that a limiter which
// is to deny does.
func open(texts []string, denied bool) ([]opened, error) {
	var all []opened
	for _, o := range opens {
		l, err := o.open(len(texts), denied)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		for range 2 {
			for _, t := range texts {
				l.take(t)
			}
		}
		if l.take(texts[0]) == denied {
			return nil, fmt.Errorf("%s does not do what is measured", o.name)
		}
		all = append(all, opened{o.name, l})
	}
	return all, nil
}

// compare measures all in turns, each round beginning with another.
func compare(all []opened, texts []string, cores, rounds, calls int) []figure {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	ns, allocs := make([][]float64, len(all)), make([][]float64, len(all))
	picks := newPicks(len(texts), 1<<20)
	for round := range rounds {
		for i := range all {
			j := (i + round) % len(all)
			n, a := measure(all[j].limiter, texts, picks, cores, calls)
			ns[j], allocs[j] = append(ns[j], n), append(allocs[j], a)
		}
	}
	figures := make([]figure, len(all))
	for i, l := range all {
		figures[i] = figure{l.name, median(ns[i]), median(allocs[i])}
	}
	return figures
}

func newPicks(n, size int) []int32 {
	r := rand.New(rand.NewPCG(3, 4))
	picks := make([]int32, size)
	for i := range picks {
		picks[i] = r.Int32N(int32(n))
	}
	return picks
}

// measure gives the processor time of a check and what it allocates. Other
// processes inflate the time of day far more than this.
func measure(l limiter, texts []string, picks []int32, cores, calls int) (ns, allocs float64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := cpu()
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			from := core * len(picks) / cores
			for i := range calls {
				l.take(texts[picks[(from+i)&(len(picks)-1)]])
			}
		})
	}
	wg.Wait()
	took := cpu() - begin
	runtime.ReadMemStats(&after)
	n := float64(cores * calls)
	return float64(took) / n, float64(after.Mallocs-before.Mallocs) / n
}

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
