// Command bench holds the server against its speed goals. Every figure is a
// ratio to a baseline measured in the same run, in turns with it, on one
// Postgres (KEYSTONE_GO_TEST_POSTGRES).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// gate is one goal: the figure must not pass the bound.
type gate struct {
	name, figure string
	ok           bool
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "burn" {
		burn(os.Args[2])
		return
	}
	seconds := flag.Duration("each", 2*time.Second, "length of one measurement")
	turns := flag.Int("turns", 5, "how often each pair is measured; the median counts")
	flag.Parse()
	if err := run(context.Background(), *seconds, *turns); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, each time.Duration, turns int) error {
	s, err := start(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	var gates []gate
	for _, m := range []func() ([]gate, error){
		limiterGates,
		redisGates,
		s.decodeGates,
		func() ([]gate, error) { return s.validationGates(each, turns) },
		func() ([]gate, error) { return s.loginGates(turns) },
		func() ([]gate, error) { return s.floodGates(2*each, turns) },
	} {
		g, err := m()
		if err != nil {
			return err
		}
		for _, x := range g {
			verdict := "ok  "
			if !x.ok {
				verdict = "MISS"
			}
			fmt.Printf("%s  %-52s %s\n", verdict, x.name, x.figure)
		}
		gates = append(gates, g...)
	}
	for _, g := range gates {
		if !g.ok {
			return errors.New("a goal was missed")
		}
	}
	return nil
}
