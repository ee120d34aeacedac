package limitlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/limitlog"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// stand is a log with a clock that the test moves.
type stand struct {
	*limitlog.Log
	out bytes.Buffer
	now time.Time
	cfg limitlog.Config
}

func newStand(change func(*limitlog.Config)) *stand {
	s := &stand{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	s.cfg = limitlog.Config{Log: slog.New(olog.New(&s.out, olog.Options{})), Now: func() time.Time { return s.now }}
	if change != nil {
		change(&s.cfg)
	}
	s.Log = limitlog.New(s.cfg)
	return s
}

// lines takes what was written since the last time.
func (s *stand) lines() []string {
	text := strings.TrimSuffix(s.out.String(), "\n")
	s.out.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func request(n int, user string) context.Context {
	return olog.WithRequest(context.Background(), &olog.Request{
		ID: fmt.Sprintf("req-%d", n), Addr: netip.MustParseAddr("198.51.100.7"), User: user,
	})
}

func refusal(key byte) limitlog.Refusal {
	return limitlog.Refusal{Limiter: "rate_limit_user_auth", Key: [16]byte{key}}
}

// RL-H33: 1,000 refusals of one key are one line at once, and one a minute
// with a count.
func TestRL_H33(t *testing.T) {
	s := newStand(nil)
	for i := range 1000 {
		s.Refused(request(i, "user-8a2f"), refusal(1))
	}
	first := s.lines()
	if len(first) != 1 || !strings.Contains(first[0], "req-0 ") || !strings.Contains(first[0], "refused by a rate limit") {
		t.Fatalf("1,000 refusals: %q, want one line with the first request's id", first)
	}
	for _, secret := range []string{"user-8a2f", "198.51.100.7"} {
		if strings.Contains(first[0], secret) {
			t.Errorf("the line shows %s: %s", secret, first[0])
		}
	}
	s.now = s.now.Add(59 * time.Second)
	s.Refused(request(1000, ""), refusal(1))
	if got := s.lines(); got != nil {
		t.Errorf("within the minute: %q", got)
	}
	s.now = s.now.Add(time.Second)
	s.Flush()
	if got := s.lines(); len(got) != 1 || !strings.Contains(got[0], "count=1000") || !strings.Contains(got[0], "refused again") {
		t.Errorf("after a minute: %q, want a line with count=1000", got)
	}
	s.now = s.now.Add(time.Minute)
	s.Flush()
	s.now = s.now.Add(time.Minute)
	s.Flush()
	if got := s.lines(); got != nil {
		t.Errorf("quiet, and yet %q", got)
	}
	s.Refused(request(2000, ""), refusal(1))
	if got := s.lines(); len(got) != 1 {
		t.Errorf("refused after a pause: %q, want a line at once", got)
	}
}

// A flood from many keys has so many lines a minute and no more; what is left
// out is counted.
func TestManyKeys(t *testing.T) {
	s := newStand(nil)
	for i := range 5000 {
		r := refusal(0)
		r.Key[1], r.Key[2] = byte(i), byte(i>>8)
		s.Refused(request(i, ""), r)
	}
	if got := len(s.lines()); got != 100 {
		t.Errorf("5,000 keys: %d lines, want 100", got)
	}
	s.now = s.now.Add(time.Minute)
	s.Flush()
	if got := s.lines(); len(got) != 1 || !strings.Contains(got[0], "count=4900") {
		t.Errorf("after a minute: %q, want one line with count=4900", got)
	}
}

func TestAddressesByOption(t *testing.T) {
	s := newStand(func(c *limitlog.Config) { c.ClearAddresses = true })
	s.Refused(request(1, ""), refusal(1))
	if got := s.lines(); len(got) != 1 || !strings.Contains(got[0], "address=198.51.100.7") {
		t.Errorf("addresses are allowed: %q", got)
	}
	s.cfg.ClearAddresses = false
	s.Use(s.cfg)
	s.Refused(request(2, ""), refusal(2))
	if got := s.lines(); len(got) != 1 || strings.Contains(got[0], "198.51.100.7") {
		t.Errorf("after the option was taken back: %q", got)
	}
}

func TestOffAndNil(t *testing.T) {
	s := newStand(func(c *limitlog.Config) { c.Off = true })
	s.Refused(request(1, ""), refusal(1))
	if got := s.lines(); got != nil {
		t.Errorf("off, and yet %q", got)
	}
	var none *limitlog.Log
	none.Refused(request(1, ""), refusal(1))
	none.Flush()
	if none.Digest([]byte("x")) != "" || none.ClearAddresses() {
		t.Error("a nil log shows something")
	}
}

// Shadow refusals have lines of their own, which do not hide the true ones.
func TestShadow(t *testing.T) {
	s := newStand(nil)
	r := refusal(1)
	r.Shadow = true
	s.Refused(request(1, ""), r)
	s.Refused(request(2, ""), refusal(1))
	if got := s.lines(); len(got) != 2 || !strings.Contains(got[0], "would be refused") || strings.Contains(got[1], "would be") {
		t.Errorf("%q", got)
	}
}

// Two processes have different hashes for one key, and one process the same.
func TestDigest(t *testing.T) {
	a, b := newStand(nil), newStand(nil)
	key := []byte("key")
	if a.Digest([]byte("key")) != a.Digest(key) || a.Digest(key) == a.Digest([]byte("kez")) || len(a.Digest(key)) != 16 {
		t.Errorf("%s and %s", a.Digest(key), a.Digest([]byte("kez")))
	}
	if a.Digest(key) == b.Digest(key) {
		t.Error("two logs hash alike")
	}
}

// Many requests at once, and a reload among them, lose no refusal.
func TestAtOnce(t *testing.T) {
	s := newStand(nil)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				s.Refused(request(i, ""), refusal(byte(g%4)))
				if i%100 == 0 {
					s.Use(s.Use(s.cfg))
					s.Flush()
				}
			}
		})
	}
	all.Wait()
	s.now = s.now.Add(time.Minute)
	s.Flush()
	sum := 0
	for _, l := range s.lines() {
		_, count, _ := strings.Cut(l, "count=")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		sum += n
	}
	if sum != 4000 {
		t.Errorf("%d refusals are told of 4,000", sum)
	}
}
