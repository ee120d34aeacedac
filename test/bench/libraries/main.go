// Command libraries compares a check with what other limiters for Go take, in
// one process and in turns, and fails when a goal is missed. It is a module of
// its own, so that the server does not depend on them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
)

// Goals, as shares of the fastest library's processor time.
const (
	allowGoal = 0.9
	denyGoal  = 1.1
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each is measured; the median counts")
	calls := flag.Int("calls", 1<<20, "checks in one measurement, on each core")
	large := flag.Int("large", 1_000_000, "keys of the larger store")
	flag.Parse()
	if err := run(*rounds, *calls, *large); err != nil {
		fmt.Fprintln(os.Stderr, "libraries:", err)
		os.Exit(1)
	}
}

func run(rounds, calls, large int) error {
	missed := false
	for _, keys := range []int{10_000, large} {
		texts := newTexts(keys)
		weights := weigh(texts)
		for _, denied := range []bool{false, true} {
			all, err := open(texts, denied)
			if err != nil {
				return err
			}
			for _, cores := range []int{1, 2} {
				if !report(compare(all, texts, cores, rounds, calls), weights, keys, cores, denied) {
					missed = true
				}
			}
			for _, l := range all {
				l.close()
			}
		}
	}
	if missed {
		return errors.New("a goal was missed")
	}
	return nil
}

// figure is what one limiter took in all rounds.
type figure struct {
	name   string
	ns     float64
	allocs float64
}

// report prints a table and tells whether ours, which comes first, met its goal.
func report(figures []figure, weights map[string]float64, keys, cores int, denied bool) bool {
	what, goal := "allow", allowGoal
	if denied {
		what, goal = "deny", denyGoal
	}
	fastest := slices.MinFunc(figures[1:], func(a, b figure) int { return int(a.ns - b.ns) })
	ratio := figures[0].ns / fastest.ns
	verdict := "ok  "
	ok := ratio <= goal && figures[0].allocs < 0.01
	if !ok {
		verdict = "MISS"
	}
	fmt.Printf("%s  %s, %d keys, %d cores: %.2f × %s (at most %.1f)\n", verdict, what, keys, cores, ratio, fastest.name, goal)
	for _, f := range figures {
		fmt.Printf("      %-12s %7.0f ns of processor  %5.2f allocations  %4.0f bytes a key\n", f.name, f.ns, f.allocs, weights[f.name])
	}
	return ok
}

// weigh fills each limiter alone and gives its bytes a key, the text not
// counted.
func weigh(texts []string) map[string]float64 {
	weights := map[string]float64{}
	for i := range opens {
		before := heap()
		l, err := opens[i].open(len(texts), false)
		if err != nil {
			continue
		}
		for _, t := range texts {
			l.take(t)
		}
		weights[opens[i].name] = float64(heap()-before) / float64(len(texts))
		l.close()
	}
	return weights
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
