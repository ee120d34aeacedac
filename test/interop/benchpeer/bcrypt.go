package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// goalBcrypt is the share of what bcrypt alone could do that logins reach.
const goalBcrypt = 0.95

// bound has logins take turns with nothing but the hash that each of them
// costs, as many at a time as keystone-go has slots for.
func bound(s scenario, run func(time.Duration) (figure, error), length time.Duration, rounds int) (Row, error) {
	row := Row{Scenario: s.name, Against: "bare bcrypt", Goal: goalBcrypt}
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), hashRounds)
	if err != nil {
		return row, err
	}
	var bare, ours []figure
	for range rounds {
		f, err := compares(hash, length)
		if err != nil {
			return row, err
		}
		bare = append(bare, f)
		if f, err = run(length); err != nil {
			return row, fmt.Errorf("%s: %w", s.name, err)
		}
		ours = append(ours, f)
	}
	return row.with(median(bare), median(ours)), nil
}

// compares compares a password with its hash for so long, hashSlots at a time.
func compares(hash []byte, length time.Duration) (figure, error) {
	var (
		done  atomic.Int64
		wrong atomic.Bool
		all   sync.WaitGroup
	)
	before, err := ownTime()
	if err != nil {
		return figure{}, err
	}
	start := time.Now()
	for range hashSlots {
		all.Go(func() {
			for time.Since(start) < length {
				if bcrypt.CompareHashAndPassword(hash, []byte("secret")) != nil {
					wrong.Store(true)
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	after, err := ownTime()
	if wrong.Load() {
		err = bcrypt.ErrMismatchedHashAndPassword
	}
	n := float64(done.Load())
	return figure{cpu: (after - before).Seconds() * 1000 / n, rate: n / took.Seconds(), count: int(n)}, err
}

// ownTime is the processor time of this process so far.
func ownTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
