package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

func median[T int64 | float64 | time.Duration](v []T) T {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// rate calls f from a few clients for a while and gives calls a second.
func rate(d time.Duration, clients int, f func() error) (float64, error) {
	var n atomic.Int64
	var failed atomic.Value
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for time.Since(start) < d {
				if err := f(); err != nil {
					failed.Store(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, err
	}
	return float64(n.Load()) / time.Since(start).Seconds(), nil
}

// validationGates compares with a bare echo handler that answers the same
// bytes after one ping of the database.
func (s *server) validationGates(each time.Duration, turns int) ([]gate, error) {
	const clients = 4
	ours, bare := func() error { _, err := s.get(s.url); return err }, func() error { _, err := s.get(s.bare); return err }
	var ratios, rates []float64
	for range turns {
		a, err := rate(each, clients, ours)
		if err != nil {
			return nil, err
		}
		b, err := rate(each, clients, bare)
		if err != nil {
			return nil, err
		}
		ratios, rates = append(ratios, a/b), append(rates, a)
	}
	r := median(ratios)
	return []gate{{
		name:   "validation ≥ 0.4 × bare handler with one ping",
		figure: fmt.Sprintf("%.2f × (%.0f a second, %d bytes)", r, median(rates), len(s.answer)),
		ok:     r >= 0.4,
	}}, nil
}

// loginGates compares one login with one bare bcrypt compare. Beside it stands
// what a bare handler adds to that, which compares between two pings of the
// database: no less can be had on this machine.
func (s *server) loginGates(turns int) ([]gate, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), s.hashRounds)
	if err != nil {
		return nil, err
	}
	var bare, least, login []time.Duration
	for range 6 * turns {
		t := time.Now()
		if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil {
			return nil, err
		}
		bare = append(bare, time.Since(t))
		t = time.Now()
		if _, err := s.login(password); err != nil {
			return nil, err
		}
		login = append(login, time.Since(t))
		t = time.Now()
		if _, err := s.loginAt(s.bare, password); err != nil {
			return nil, err
		}
		least = append(least, time.Since(t))
	}
	// The lower quartile: the hash itself varies by more than what is measured.
	over := quartile(login) - quartile(bare)
	return []gate{{
		name: "one login ≤ bare bcrypt compare + 3 ms",
		figure: fmt.Sprintf("+ %.2f ms (of %.0f ms, lower quartiles of %d; a bare handler with it between two pings: + %.2f)",
			ms(over), ms(quartile(bare)), len(login), ms(quartile(least)-quartile(bare))),
		ok: over <= 3*time.Millisecond,
	}}, nil
}

func quartile(v []time.Duration) time.Duration {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/4]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// decodeGates counts what decoding a token allocates.
func (s *server) decodeGates() ([]gate, error) {
	repo, err := fernet.Open(s.dir+"/keys", time.Now)
	if err != nil {
		return nil, err
	}
	p := token.NewFernet(repo, []string{"external", "password", "token"}, "default")
	if _, err := p.Decode(s.admin); err != nil {
		return nil, err
	}
	n := allocs(1000, func() { _, _ = p.Decode(s.admin) })
	return []gate{{name: "Fernet decode ≤ 3 allocations", figure: fmt.Sprintf("%.1f", n), ok: n <= 3}}, nil
}

// floodGates measures the slowest hundredth of validations under a flood of
// wrong passwords, against the same while another process keeps as many cores
// busy as there are hash slots.
func (s *server) floodGates(each time.Duration, turns int) ([]gate, error) {
	var flood, busy, idle []float64
	for range turns {
		stop := s.flood(16)
		a, err := s.slowest(each)
		stop()
		if err != nil {
			return nil, err
		}
		end, err := burnElsewhere(each + time.Second)
		if err != nil {
			return nil, err
		}
		b, err := s.slowest(each)
		end()
		if err != nil {
			return nil, err
		}
		c, err := s.slowest(each)
		if err != nil {
			return nil, err
		}
		flood, busy, idle = append(flood, a), append(busy, b), append(idle, c)
	}
	ratios := make([]float64, turns)
	for i := range ratios {
		ratios[i] = flood[i] / busy[i]
	}
	r := median(ratios)
	return []gate{{
		name: "p99 of validation in a flood ≤ 1.5 × beside a busy core",
		figure: fmt.Sprintf("%.2f × (flood %.2f ms, busy core %.2f ms; idle %.2f ms: %.2f ×)",
			r, median(flood), median(busy), median(idle), median(flood)/median(idle)),
		ok: r <= 1.5,
	}}, nil
}

// flood sends wrong passwords from so many clients until stopped.
func (s *server) flood(clients int) (stop func()) {
	var wg sync.WaitGroup
	var done atomic.Bool
	for range clients {
		wg.Go(func() {
			for !done.Load() {
				_, _ = s.login("wrong")
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	return func() { done.Store(true); wg.Wait() }
}

// slowest is the 99th percentile in ms of validations at a steady 100 a second.
func (s *server) slowest(d time.Duration) (float64, error) {
	var mu sync.Mutex
	var took []float64
	var wg sync.WaitGroup
	var failed error
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range int(d / (10 * time.Millisecond)) {
		at := <-tick.C
		wg.Go(func() {
			_, err := s.validate()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			took = append(took, float64(time.Since(at).Microseconds())/1000)
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took[len(took)*99/100], failed
}

// burn keeps a core busy for a while.
func burn(d string) {
	length, err := time.ParseDuration(d)
	if err != nil {
		return
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		_, _ = bcrypt.GenerateFromPassword([]byte("x"), bcrypt.MinCost)
	}
}

// burnElsewhere does that in another process, one for each hash slot.
func burnElsewhere(d time.Duration) (end func(), err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, exe, "burn", d.String())
	if err := c.Start(); err != nil {
		cancel()
		return nil, err
	}
	time.Sleep(200 * time.Millisecond)
	return func() { cancel(); _ = c.Wait() }, nil
}
