package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// redisGates counts what a decision costs on the way to Redis: one round trip,
// for one limit of a request as for three, and none for a refusal that holds.
func redisGates() (gates []gate, err error) {
	for _, c := range []struct {
		name    string
		limits  int
		refused bool
		trips   float64
	}{
		{"Redis decision of one limit: 1 round trip", 1, false, 1},
		{"Redis decision of three limits: 1 round trip", 3, false, 1},
		{"Redis refusal that was told a moment ago: 0 round trips", 1, true, 0},
	} {
		var trips float64
		r := testing.Benchmark(func(b *testing.B) {
			p := redistest.Between(b, redistest.Start(b).Addr)
			trips, err = tripsOf(b, p, c.limits, c.refused)
		})
		if err == nil && r.N == 0 {
			err = errors.New("no Redis to measure: is redis-server installed?")
		}
		if err != nil {
			return nil, err
		}
		gates = append(gates, gate{
			name: c.name, ok: trips <= c.trips*1.001+0.001 && trips >= c.trips,
			figure: fmt.Sprintf("%.3f, %s", trips, (r.T / time.Duration(r.N)).Round(100*time.Nanosecond)),
		})
	}
	return gates, nil
}

// tripsOf makes decisions for as long as a benchmark runs.
func tripsOf(b *testing.B, p *redistest.Proxy, limits int, refused bool) (float64, error) {
	client, err := redis.Dial(redis.Config{URL: "redis://" + p.Addr, Secret: []byte("bench"), Budget: 10 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	q := ratelimit.Quota{Rate: ratelimit.MaxRate, Period: time.Second, Burst: ratelimit.MaxBurst}
	if refused {
		q = ratelimit.Quota{Rate: 1, Period: ratelimit.MaxPeriod, Burst: 1}
	}
	charges := make([]ratelimit.Charge, limits)
	for i := range charges {
		l, err := ratelimit.New(ratelimit.Spec{Name: fmt.Sprint("bench", i), Quota: q}, client.Open)
		if err != nil {
			return 0, err
		}
		charges[i] = ratelimit.Charge{Limiter: l, Key: l.Address(netip.MustParseAddr("198.18.0.1")), Cost: 1}
	}
	ctx := context.Background()
	for range 2 { // a connection, the script, and the one unit
		if _, err := ratelimit.TakeAll(ctx, charges...); err != nil {
			return 0, err
		}
	}
	before, n := p.Trips(), 0
	for b.Loop() {
		d, err := ratelimit.TakeAll(ctx, charges...)
		if err != nil {
			return 0, err
		}
		if d.Allowed == refused {
			return 0, fmt.Errorf("a decision that is not meant: %+v", d)
		}
		n++
	}
	return float64(p.Trips()-before) / float64(n), nil
}
