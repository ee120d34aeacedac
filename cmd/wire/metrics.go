package wire

import (
	"context"
	"fmt"
	"runtime"
	"strconv"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

// metrics makes the registry; its sources are asked when it is read, once
// everything stands.
func (b *builder) metrics(context.Context) error {
	version, revision := Version()
	b.stats = ops.NewMetrics(ops.Sources{
		Pool: func() db.PoolStats {
			if b.app.DB == nil {
				return db.PoolStats{}
			}
			return b.app.DB.Stats()
		},
		Gate: func() passhash.Stats {
			if b.app.Hasher == nil {
				return passhash.Stats{}
			}
			return b.app.Hasher.Stats()
		},
		Limiters: b.limiterStats,
		Keys:     b.keyStats,
		Version:  version, Revision: revision, GoVersion: runtime.Version(),
	})
	b.app.Admin = ops.NewAdmin(b.stats, b.Log,
		ops.Probe{Name: "database", Check: func(ctx context.Context) error { return b.app.DB.Ping(ctx) }},
		ops.Probe{Name: "keys", Check: b.probeKeys})
	return nil
}

func (b *builder) limiterStats() []ops.Limiter {
	var out []ops.Limiter
	for _, s := range b.app.Limits.Stats() {
		out = append(out, ops.Limiter{
			Name: s.Name, Backend: "memory", Entries: s.Entries, Evictions: s.EvictedIdle + s.EvictedLive,
		})
	}
	return out
}

func (b *builder) keyStats() []ops.Keys {
	var out []ops.Keys
	for name, repo := range b.tokens.repos {
		i := repo.Info()
		out = append(out, ops.Keys{
			Repository: name, Count: i.Keys, PrimaryID: strconv.Itoa(i.Primary), PrimaryAge: b.Now().Sub(i.Rotated),
		})
	}
	return out
}

func (b *builder) probeKeys(context.Context) error {
	for name, repo := range b.tokens.repos {
		if err := repo.Info().Err; err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
