// Package pycache has Python Keystone servers on the same database look at it
// anew: what they hold in memcached is dropped after a write of ours. It never
// reads a cache.
package pycache

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Config says where Python's caches are.
type Config struct {
	// Servers are memcached servers, host:port or unix:/path, in any of the
	// forms of [cache] memcache_servers.
	Servers []string
	// Timeout bounds how long a write waits for all of them together.
	Timeout time.Duration
	// TLS, if set, is spoken to servers with a host.
	TLS *tls.Config
	// Username and Password log in by SASL, if set.
	Username, Password string
	Log                *slog.Logger
}

// Caches are the memcached servers of Python Keystone.
type Caches struct {
	timeout time.Duration
	servers []*server
	once    sync.Once // Close has been called
	ended   sync.WaitGroup
	keys    map[string]string // by region
}

// Stats counts since the start; Owing are the servers that are owed a deletion
// now.
type Stats struct {
	Deletions
	Regions map[string]Deletions // of each region by itself
	Owing   int
}

// Deletions are those that a server has confirmed in time, and those that it
// has not; all regions that were deleted at once are one.
type Deletions struct{ Done, Failed uint64 }

// New makes the connections when they are needed. Close ends them.
func New(c Config) (*Caches, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	p := &Caches{timeout: c.Timeout, keys: map[string]string{}}
	for _, r := range all {
		p.keys[r] = keyOf(r)
	}
	for _, text := range c.Servers {
		a, err := parseAddress(text)
		if err != nil {
			return nil, err
		}
		p.servers = append(p.servers, newServer(a, c))
	}
	for _, s := range p.servers {
		p.ended.Go(s.run)
	}
	return p, nil
}

// Close ends the connections; it waits for what runs. A nil *Caches has none.
func (p *Caches) Close() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		for _, s := range p.servers {
			close(s.stop)
		}
	})
	p.ended.Wait()
}

// Watch gives the same database, whose commits empty the caches before the one
// who wrote goes on. A nil *Caches leaves the database as it is.
func (p *Caches) Watch(d db.DB) db.DB {
	if p == nil {
		return d
	}
	return db.Committed(d, func(_ context.Context, writes []string) { p.written(writes) })
}

func (p *Caches) written(writes []string) {
	if regions := regionsOf(writes); len(regions) > 0 {
		p.forget(regions)
	}
}

// forget deletes the keys of the regions at every server, at once and for the
// bounded time: what could not be done by then is done as soon as it can be.
// The deletions of writes that come together are one.
func (p *Caches) forget(regions []string) {
	keys := make([]string, len(regions))
	for i, r := range regions {
		keys[i] = p.keys[r]
	}
	rounds := make([]*round, 0, len(p.servers))
	for _, s := range p.servers {
		if r := s.owe(keys); r != nil {
			rounds = append(rounds, r)
		}
	}
	limit := time.NewTimer(p.timeout)
	defer limit.Stop()
	for _, r := range rounds {
		select {
		case <-r.done:
		case <-limit.C:
			return
		}
	}
}

// Stats tells how the caches have been reached.
func (p *Caches) Stats() Stats {
	var sum Stats
	if p == nil {
		return sum
	}
	sum.Regions = map[string]Deletions{}
	for _, s := range p.servers {
		s.mu.Lock()
		sum.Done += s.kept
		sum.Failed += s.broken
		for region, key := range p.keys {
			d, one := sum.Regions[region], s.byKey[key]
			sum.Regions[region] = Deletions{d.Done + one.Done, d.Failed + one.Failed}
		}
		if len(s.owed)+s.sent > 0 {
			sum.Owing++
		}
		s.mu.Unlock()
	}
	return sum
}
