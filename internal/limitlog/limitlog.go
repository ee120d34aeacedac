// Package limitlog writes down whom rate limits refuse, without letting a flood
// of refusals become a flood of lines: the first refusal of a key has a line at
// once, and then one a minute with a count.
package limitlog

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/internal/olog"
)

// Logger is the name of the log's lines, for [DEFAULT] default_log_levels.
const Logger = "keystone.ratelimit"

const (
	// every is how often a key that goes on being refused has a line.
	every = time.Minute
	// maxKeys is how many keys have lines of their own in a minute; those
	// beyond share one line a limiter.
	maxKeys = 100
)

// Refusal is one request that a limit refused, or that a shadow limit would
// have refused.
type Refusal struct {
	Limiter string
	Key     [16]byte
	Shadow  bool
}

// Config says where the lines go and what they may show.
type Config struct {
	Log *slog.Logger
	Now func() time.Time
	// ClearAddresses shows client addresses; else they are hashed as keys are.
	ClearAddresses bool
	// Off writes no line. Digest works all the same.
	Off bool
}

// Log samples refusals. A nil *Log writes nothing. Its methods may be called
// at once.
type Log struct {
	secret [32]byte

	mu     sync.Mutex
	cfg    Config
	keys   map[entry]*count
	others map[string]uint64 // by limiter
	due    time.Time         // of the next round of counts
}

type entry struct {
	limiter string
	key     [16]byte
	shadow  bool
}

// count is what has not been told yet of a key.
type count struct {
	n       uint64
	address netip.Addr
	request string // the id of the last request
}

// New makes a log with a key of its own, so that nobody without the process'
// memory can find out by trial whom a hash stands for.
func New(cfg Config) *Log {
	l := &Log{cfg: cfg, keys: map[entry]*count{}, others: map[string]uint64{}}
	_, _ = rand.Read(l.secret[:]) // never fails
	l.due = cfg.Now().Add(every)
	return l
}

// Use takes over other settings, and gives those that were in force. Keys keep
// their counts and their hashes.
func (l *Log) Use(cfg Config) Config {
	if l == nil {
		return cfg
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.cfg
	l.cfg = cfg
	return before
}

// ClearAddresses reports whether addresses may be shown.
func (l *Log) ClearAddresses() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg.ClearAddresses
}

// Digest is what stands for a key in logs and on the operator's page: the same
// for as long as the process runs, and meaningless elsewhere.
func (l *Log) Digest(text []byte) string {
	if l == nil {
		return ""
	}
	m := hmac.New(sha256.New, l.secret[:])
	m.Write(text)
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// Refused notes a refusal of the request that ctx belongs to.
func (l *Log) Refused(ctx context.Context, r Refusal) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cfg.Off {
		return
	}
	l.round()
	req, e := olog.FromContext(ctx), entry{r.Limiter, r.Key, r.Shadow}
	if c, known := l.keys[e]; known {
		c.n, c.address, c.request = c.n+1, req.Addr, req.ID
		return
	}
	if len(l.keys) >= maxKeys {
		l.others[r.Limiter]++
		return
	}
	l.keys[e] = &count{}
	l.write(e, 1, req.Addr, req.ID, "refused by a rate limit")
}

// Flush writes the counts that are due; called now and then, it tells of a
// flood that has ended.
func (l *Log) Flush() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.round()
}

// round writes a line for each key that was refused again since its last one,
// and forgets the others.
func (l *Log) round() {
	now := l.cfg.Now()
	if now.Before(l.due) {
		return
	}
	l.due = now.Add(every)
	for e, c := range l.keys {
		if c.n == 0 {
			delete(l.keys, e)
			continue
		}
		l.write(e, c.n, c.address, c.request, "refused again by a rate limit")
		c.n = 0
	}
	for limiter, n := range l.others {
		l.cfg.Log.LogAttrs(context.Background(), slog.LevelWarn, "others refused by a rate limit", olog.Name(Logger), slog.String("limiter", limiter), slog.Uint64("count", n))
	}
	clear(l.others)
}

// write makes a line of the request's id alone: who called stands in no line
// but as a hash.
func (l *Log) write(e entry, n uint64, addr netip.Addr, request, text string) {
	ctx := olog.WithRequest(context.Background(), &olog.Request{ID: request})
	address := "-"
	if addr.IsValid() {
		a := addr.As16()
		address = l.Digest(a[:])
		if l.cfg.ClearAddresses {
			address = addr.String()
		}
	}
	if e.shadow {
		text = "would be " + text
	}
	l.cfg.Log.LogAttrs(ctx, slog.LevelWarn, text, olog.Name(Logger),
		slog.String("limiter", e.limiter), slog.String("key", l.Digest(e.key[:])), slog.String("address", address), slog.Uint64("count", n))
}
