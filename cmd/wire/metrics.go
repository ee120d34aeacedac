package wire

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

// metrics makes the registry and the admin listener's answers, or takes those
// of the App before. Their sources are asked when they are read, about the App
// that is current then.
func (b *builder) metrics(context.Context) error {
	if old := b.Before; old != nil {
		b.app.face, b.stats, b.app.Admin = old.face, old.Metrics, old.Admin
	} else {
		b.app.face = &face{}
		b.stats = ops.NewMetrics(b.app.face.sources(b.Now))
		b.app.Admin = ops.NewAdmin(b.stats, b.Log,
			ops.Probe{Name: "database", Check: func(ctx context.Context) error { return b.app.face.app.Load().DB.Ping(ctx) }},
			ops.Probe{Name: "keys", Check: func(context.Context) error { return b.app.face.app.Load().tokens.ready() }},
			ops.Probe{Name: "limits", Degrades: true, Check: func(context.Context) error {
				if text := b.app.face.degraded(); text != "" {
					return errors.New(text)
				}
				return nil
			}})
	}
	b.app.Metrics = b.stats
	b.app.Admin.Show(desk{b.app.face})
	return nil
}

func (f *face) sources(now func() time.Time) ops.Sources {
	version, revision := Version()
	return ops.Sources{
		Pool: func() db.PoolStats {
			if a := f.app.Load(); a != nil {
				return a.DB.Stats()
			}
			return db.PoolStats{}
		},
		Gate: func() passhash.Stats {
			if a := f.app.Load(); a != nil {
				return a.Hasher.Stats()
			}
			return passhash.Stats{}
		},
		Limiters: func() []ops.Limiter { return f.limiters(now()) },
		Keys:     func() []ops.Keys { return f.keys(now()) },
		Guesses:  f.guesses,
		Caches: func() pycache.Stats {
			if a := f.app.Load(); a != nil {
				return a.caches.Stats()
			}
			return pycache.Stats{}
		},
		Revocations: f.revocations, Traces: f.traces, Notices: f.notices, Now: now,
		Version: version, Revision: revision, GoVersion: runtime.Version(),
	}
}

func (f *face) limiters(now time.Time) []ops.Limiter {
	var out []ops.Limiter
	a := f.app.Load()
	if a == nil {
		return nil
	}
	near := f.near.of(a.Limits, now)
	for _, s := range a.Limits.Stats() {
		out = append(out, ops.Limiter{
			Name: s.Name, Backend: a.backend, Entries: s.Entries, Capacity: s.Capacity,
			Evictions: s.EvictedIdle + s.EvictedLive, LiveEvictions: s.EvictedLive, NearLimit: near[s.Name],
			Overflowed: s.Overflowed, Errors: s.Fallbacks, Failing: s.Failing,
		})
	}
	return out
}

func (f *face) guesses() (out []ops.Guesses) {
	if a := f.app.Load(); a != nil && a.guesses != nil {
		a.guesses.Memory.Each(func(kind string, marks int, evicted uint64) {
			out = append(out, ops.Guesses{Kind: kind, Marks: marks, Evicted: evicted})
		})
	}
	return out
}

// degraded tells that a limit goes without the store that it shares, as its
// last check found; "" when none does.
func (f *face) degraded() string {
	if a := f.app.Load(); a != nil {
		for _, s := range a.Limits.Stats() {
			if s.Failing {
				return "the shared store of the limits is away; each limit follows its on_store_failure"
			}
		}
	}
	return ""
}

func (f *face) keys(now time.Time) []ops.Keys {
	var out []ops.Keys
	a := f.app.Load()
	if a == nil {
		return nil
	}
	for name, repo := range a.tokens.repos {
		i := repo.Info()
		out = append(out, ops.Keys{
			Repository: name, Count: i.Keys, PrimaryID: strconv.Itoa(i.Primary), PrimaryAge: now.Sub(i.Rotated),
		})
	}
	return out
}

var countRevocations = db.Query[int64]{
	Text: `select count(*) from revocation_event`,
	Scan: func(r db.Row) (n int64, err error) { return n, r.Scan(&n) },
}

func (f *face) revocations(ctx context.Context) (int64, error) {
	a := f.app.Load()
	if a == nil {
		return 0, errors.New("there is no server yet")
	}
	return db.One(ctx, a.DB, countRevocations)
}
