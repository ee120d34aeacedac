// Package sql keeps the states of a limiter's keys in the database, for clouds
// of several servers without a Redis. A decision is one statement on Postgres,
// in a table that is in no log of the server's (unlogged), and one short
// transaction on SQLite. The clock is the database's.
//
// The table is made by db_sync where [rate_limit] store = sql. An id in it is a
// keyed hash: the database holds no address and no name.
package sql

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Config says which database, and how it is used.
type Config struct {
	DB db.DB
	// Secret keys the hashes that stand for addresses and names. Processes
	// share a quota only if they have the same.
	Secret []byte
	// Budget bounds one decision; a second when 0.
	Budget time.Duration
}

// Client is the way to a database that all limiters of a process share.
type Client struct {
	db     db.DB
	secret []byte
	budget time.Duration
	clock  func() time.Duration // instead of the database's; for tests alone
}

// New makes a client.
func New(c Config) *Client {
	if c.Budget <= 0 {
		c.Budget = time.Second
	}
	return &Client{db: c.DB, secret: c.Secret, budget: c.Budget}
}

// Store is a ratelimit.Store whose states are rows.
type Store struct {
	client    *Client
	name      string
	quota     atomic.Pointer[ratelimit.Quota]
	algorithm ratelimit.Algorithm
	sliding   bool // the algorithm is not GCRA
	stop      func()
	// portable keeps to statements that every engine has.
	portable bool

	allowed, refused, swept atomic.Uint64
}

// Open makes the store of one limiter, as a ratelimit.Opener, and starts its
// sweeper. It refuses a quota out of bounds, and a period that is no whole number
// of microseconds.
func (c *Client) Open(spec ratelimit.Spec) (ratelimit.Store, error) {
	if spec.Algorithm != "" && spec.Algorithm != ratelimit.GCRA && spec.Algorithm != ratelimit.SlidingWindow {
		return nil, fmt.Errorf("sql: no such algorithm: %s", spec.Algorithm)
	}
	s := &Store{
		client: c, name: spec.Name, portable: c.db.Dialect() != db.Postgres,
		algorithm: spec.Algorithm, sliding: spec.Algorithm == ratelimit.SlidingWindow,
	}
	if err := s.setQuota(spec.Quota); err != nil {
		return nil, err
	}
	s.stop = s.startSweeper()
	return s, nil
}

func (s *Store) setQuota(q ratelimit.Quota) error {
	if _, err := (ratelimit.Spec{Algorithm: s.algorithm}).Meter(q); err != nil {
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
func (s *Store) Requota(_ context.Context, q ratelimit.Quota) error { return s.setQuota(q) }

func (c *Client) hash(kind string, b []byte) [16]byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write([]byte(kind))
	h.Write([]byte{0})
	h.Write(b)
	return [16]byte(h.Sum(nil))
}

// Text is the key of a text, the same in every process with the secret.
func (s *Store) Text(text string) ratelimit.Key {
	return ratelimit.KeyOf(s.client.hash("text", []byte(text)))
}

func (s *Store) id(k ratelimit.Key) string {
	kind := "key"
	if s.sliding {
		kind = "window" // its rows mean something else
	}
	b := k.Bytes()
	h := s.client.hash(kind, b[:])
	return hex.EncodeToString(h[:])
}

// Take charges a key by the database's clock.
func (s *Store) Take(ctx context.Context, k ratelimit.Key, cost int64) (ratelimit.Decision, error) {
	q := *s.quota.Load()
	if cost < 0 || cost > q.Burst {
		return ratelimit.Decision{}, ratelimit.ErrCost
	}
	ctx, cancel := context.WithTimeout(ctx, s.client.budget)
	defer cancel()
	var d ratelimit.Decision
	var err error
	switch id := s.id(k); {
	case s.sliding:
		d, err = s.takeWindow(ctx, newWindow(q), id, cost)
	case !s.portable:
		d, err = s.takeAtOnce(ctx, newRule(q), id, cost)
	default:
		d, err = s.takeLocked(ctx, newRule(q), id, cost)
	}
	switch {
	case err != nil:
		return ratelimit.Decision{}, fmt.Errorf("limits in the database: %w", err)
	case cost == 0:
	case d.Allowed:
		s.allowed.Add(1)
	default:
		s.refused.Add(1)
	}
	return d, nil
}

// Refund gives back n units of a key, at most what is owed.
func (s *Store) Refund(ctx context.Context, k ratelimit.Key, n int64) error {
	if n < 0 {
		return ratelimit.ErrCost
	}
	if n == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.client.budget)
	defer cancel()
	q, id := *s.quota.Load(), s.id(k)
	switch n = min(n, ratelimit.MaxBurst); {
	case s.sliding:
		return s.refundWindow(ctx, newWindow(q), id, n)
	case !s.portable:
		return s.refundAtOnce(ctx, newRule(q), id, min(n, q.Burst))
	}
	return s.refundLocked(ctx, newRule(q), id, min(n, q.Burst))
}

// Reset forgets what is owed on a key.
func (s *Store) Reset(ctx context.Context, k ratelimit.Key) error {
	ctx, cancel := context.WithTimeout(ctx, s.client.budget)
	defer cancel()
	_, err := s.client.db.Exec(ctx, `delete from keystone_go_rate_limit where limiter = $1 and id = $2`, s.name, s.id(k))
	return err
}

// Len is 0: no key is held in this process.
func (s *Store) Len() int { return 0 }

// Stats counts what the store did for this process.
func (s *Store) Stats() ratelimit.Stats {
	return ratelimit.Stats{Allowed: s.allowed.Load(), Refused: s.refused.Load(), Swept: s.swept.Load()}
}

// Close ends the sweeper and waits for it. The store still answers after it.
func (s *Store) Close() { s.stop() }

var _ ratelimit.Store = (*Store)(nil)
