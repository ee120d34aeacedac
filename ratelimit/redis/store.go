package redis

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Store is a ratelimit.Store whose states are in the server of its Client.
type Store struct {
	client *Client
	prefix string // of its keys, up to the hash
	kind   string // the algorithm's name in the script
	quota  atomic.Pointer[ratelimit.Quota]
	denied *denied // nil where a refusal's wait may be too long

	allowed, refused atomic.Uint64
}

// Open makes the store of one limiter, as a ratelimit.Opener. It refuses a
// quota out of bounds, and a period that is no whole number of microseconds:
// the server's clock has no finer tick.
func (c *Client) Open(spec ratelimit.Spec) (ratelimit.Store, error) {
	s := &Store{client: c, prefix: c.cfg.Prefix + ":" + spec.Name + ":", kind: string(spec.Algorithm)}
	switch spec.Algorithm {
	case "", ratelimit.GCRA:
		s.kind, s.denied = string(ratelimit.GCRA), newDenied()
	case ratelimit.SlidingWindow:
		// Its states mean something else, and a wait may be over a little
		// earlier than told, so none is remembered.
		s.prefix += "window:"
	default:
		return nil, fmt.Errorf("redis: no such algorithm: %s", spec.Algorithm)
	}
	return s, s.setQuota(spec.Quota)
}

func (s *Store) setQuota(q ratelimit.Quota) error {
	if _, err := (ratelimit.Spec{Algorithm: ratelimit.Algorithm(s.kind)}).Meter(q); err != nil {
		return err
	}
	if q.Period%time.Microsecond != 0 {
		return fmt.Errorf("%w: the period %s is no whole number of microseconds", ratelimit.ErrQuota, q.Period)
	}
	s.quota.Store(&q)
	return nil
}

// Requota changes the quota. What is owed on a key is converted when the key is
// next decided upon; until then it falls by the old rate.
func (s *Store) Requota(_ context.Context, q ratelimit.Quota) error {
	if err := s.setQuota(q); err != nil {
		return err
	}
	if s.denied != nil {
		s.denied.forgetAll()
	}
	return nil
}

// Text is the key of a text, the same in every process with the Client's
// secret.
func (s *Store) Text(text string) ratelimit.Key {
	return ratelimit.KeyOf(s.client.hash("text", []byte(text)))
}

// Take charges a key by the server's clock.
func (s *Store) Take(ctx context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	parts := [1]ratelimit.Part{{Store: s, Key: k, Cost: cost}}
	err := s.client.TakeTogether(ctx, 0, parts[:])
	return parts[0].Decision, err
}

// Refund gives back n units of a key, at most what is owed.
func (s *Store) Refund(ctx context.Context, k ratelimit.Key, n int64) error {
	if n < 0 {
		return ratelimit.ErrCost
	}
	if n == 0 {
		return nil
	}
	parts := [1]ratelimit.Part{{Store: s, Key: k, Cost: -min(n, ratelimit.MaxBurst)}}
	_, err := s.client.decide(ctx, parts[:])
	s.forget(k)
	return err
}

// Reset forgets what is owed on a key.
func (s *Store) Reset(ctx context.Context, k ratelimit.Key) error {
	err := s.client.ask(ctx, func(ctx context.Context) error { return s.client.server.Del(ctx, s.name(k)).Err() })
	s.forget(k)
	return err
}

// forget must come after the change in the server: a question between the two
// would be answered by the old state.
func (s *Store) forget(k ratelimit.Key) {
	if s.denied != nil {
		s.denied.forget(k)
	}
}

// Len is 0: no key is held in this process.
func (s *Store) Len() int { return 0 }

// Stats counts what the store did for this process.
func (s *Store) Stats() ratelimit.Stats {
	return ratelimit.Stats{Allowed: s.allowed.Load(), Refused: s.refused.Load()}
}

// Close does nothing: the Client is closed for all stores at once.
func (s *Store) Close() {}

// Bundler is the Client: it decides for all its stores in one call.
func (s *Store) Bundler() ratelimit.Bundler { return s.client }

func (s *Store) name(k ratelimit.Key) string { return s.prefix + "{" + s.client.tag(k) + "}" }

func (s *Store) count(cost int64, d ratelimit.Decision) {
	switch {
	case cost == 0:
	case d.Allowed:
		s.allowed.Add(1)
	default:
		s.refused.Add(1)
	}
}

var (
	_ ratelimit.Store   = (*Store)(nil)
	_ ratelimit.Bundled = (*Store)(nil)
	_ ratelimit.Bundler = (*Client)(nil)
)
