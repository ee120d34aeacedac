package ratelimit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// sliding makes a limiter of n in any minute.
func sliding(t *testing.T, n int64, c *clock) *ratelimit.Limiter {
	t.Helper()
	l, err := ratelimit.New(ratelimit.Spec{
		Name: "test", Quota: ratelimit.Quota{Rate: n, Period: time.Minute, Burst: n},
		Algorithm: ratelimit.SlidingWindow, MaxEntries: 100, Now: c.now,
	}, memory.Open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// RL-L29: never more than five in any minute.
func TestRL_L29(t *testing.T) {
	clk := &clock{}
	l := sliding(t, 5, clk)
	for i := range int64(5) {
		if got, want := charge(t, l, 1), allowed(4-i, time.Minute); got != want {
			t.Errorf("at 0 s: got %+v, want %+v", got, want)
		}
	}
	clk.at = 59_999 * ms
	if got, want := charge(t, l, 1), refused(ms, ms); got != want {
		t.Errorf("at 59.999 s: got %+v, want %+v", got, want)
	}
	clk.at = 60 * time.Second
	if got, want := charge(t, l, 1), allowed(4, time.Minute); got != want {
		t.Errorf("at 60 s: got %+v, want %+v", got, want)
	}
}

// RL-L31: a window in two counts admits at most twice its number in any minute,
// and a refused try is not counted. In memory it is for large numbers; here are
// 5 and, since both must hold, 500.
func TestRL_L31(t *testing.T) {
	for _, n := range []int64{5, 500} {
		m, err := ratelimit.NewCounter(ratelimit.Quota{Rate: n, Period: time.Minute, Burst: n})
		if err != nil {
			t.Fatal(err)
		}
		var s ratelimit.State
		var log []admitted
		take(t, &m, &s, 0, 1) // the window begins
		if err := m.Refund(&s, 0, 1); err != nil {
			t.Fatal(err)
		}
		take(t, &m, &s, 59*time.Second, n)
		log = append(log, admitted{59 * time.Second, n})
		for at := 61 * time.Second; at < 5*time.Minute; at += time.Second {
			before := s
			switch d := take(t, &m, &s, at, 1); {
			case d.Allowed:
				log = append(log, admitted{at, 1})
			case s != before:
				t.Fatalf("%d a minute: a refused try changed %+v to %+v", n, before, s)
			}
		}
		for i := range log {
			sum := int64(0)
			for _, a := range log[i:] {
				if a.at < log[i].at+time.Minute {
					sum += a.cost
				}
			}
			if sum > 2*n {
				t.Errorf("%d a minute: %d from %v on", n, sum, log[i].at)
			}
		}
		if len(log) < 5 {
			t.Errorf("%d a minute: only %d admitted: the test has not run as meant", n, len(log))
		}
	}
}

// A window longer than a day could not be counted without overflow, and is
// refused where the limiter is made.
func TestWindowBounds(t *testing.T) {
	for _, c := range []struct {
		quota ratelimit.Quota
		ok    bool
	}{
		{ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 24}, true},
		{ratelimit.Quota{Rate: 1, Period: time.Hour, Burst: 25}, false},
		{ratelimit.Quota{Rate: ratelimit.MaxRate, Period: ratelimit.MaxPeriod, Burst: ratelimit.MaxBurst}, true},
	} {
		l, err := ratelimit.New(ratelimit.Spec{Quota: c.quota, Algorithm: ratelimit.SlidingWindow, MaxEntries: 1}, memory.Open)
		l.Close()
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ratelimit.ErrQuota) {
			t.Errorf("%+v: got %v", c.quota, err)
		}
	}
	for _, s := range []ratelimit.Spec{{Algorithm: "leaky"}, {Mode: "off"}, {Overflow: "open"}} {
		s.Quota, s.MaxEntries = ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}, 1
		if l, err := ratelimit.New(s, memory.Open); err == nil {
			l.Close()
			t.Errorf("%+v: no error", s)
		}
	}
}
