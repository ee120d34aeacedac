package wire

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/migrations"
)

// NewHasher makes the hashing gate of a configuration.
func NewHasher(cfg *conf.Config) (*passhash.Hasher, error) { return newHasher(cfg, nil) }

func newHasher(cfg *conf.Config, observe func(string, time.Duration)) (*passhash.Hasher, error) {
	options := hasherOptions(cfg)
	options.Observe = observe
	h, err := passhash.New(options)
	if err != nil {
		return nil, fmt.Errorf("[identity] password hashing: %w", err)
	}
	return h, nil
}

func hasherOptions(cfg *conf.Config) passhash.Options {
	id, own := cfg.Identity, cfg.KeystoneGo
	algorithm := id.PasswordHashAlgorithm
	if own.PasswordHashAlgorithm != "" {
		algorithm = own.PasswordHashAlgorithm
	}
	slots := own.HashSlots
	if slots == 0 {
		slots = max(runtime.GOMAXPROCS(0)/2, 1)
	}
	queue := own.HashQueue
	if queue == 0 {
		queue = 64 * slots
	}
	return passhash.Options{
		Algorithm: algorithm, Rounds: id.PasswordHashRounds,
		ScryptBlockSize: id.ScryptBlockSize, ScryptParallelism: id.ScryptParallelism, SaltBytes: id.SaltBytesize,
		MaxLength: id.MaxPasswordLength, Strict: cfg.Default.StrictPasswordCheck,
		Argon2Time: own.Argon2Time, Argon2Memory: own.Argon2Memory, Argon2Threads: own.Argon2Threads,
		Slots: slots, Queue: queue, Wait: time.Duration(own.HashWait) * time.Second,
	}
}

// OpenDB opens [database] connection, which must not be a copy in the making.
func OpenDB(ctx context.Context, cfg *conf.Config, observe func(db.Event)) (db.DB, error) {
	d, err := openDB(ctx, cfg, observe, nil)
	if err != nil {
		return nil, err
	}
	if s, err := migrations.Stands(ctx, d); err == nil && s == migrations.Begun {
		d.Close()
		return nil, migrations.ErrUnfinished
	}
	return d, nil
}

func openDB(ctx context.Context, cfg *conf.Config, observe func(db.Event), waited func(time.Duration)) (db.DB, error) {
	c := cfg.Database
	if c.Connection == "" {
		return nil, errors.New("[database] connection is not set")
	}
	timeout := 0
	if c.PoolTimeout != nil {
		timeout = *c.PoolTimeout
	}
	return db.Open(ctx, db.Config{
		URL: c.Connection, MaxPoolSize: c.MaxPoolSize, MaxOverflow: c.MaxOverflow,
		PoolTimeout: seconds(timeout), ConnRecycle: seconds(c.ConnectionRecycleTime), Observe: observe, Waited: waited,
		SyncWait: c.MysqlWsrepSyncWait,
	})
}

// Routes lists the rows that are served, without a server behind them.
func Routes() []v3.Route { return v3.Table(v3.Resources{}) }

// listLimit is a section's list_limit, or the one of [DEFAULT]; 0 is none.
func listLimit(section, global *int) int {
	switch {
	case section != nil:
		return *section
	case global != nil:
		return *global
	}
	return 0
}

// Version names the build: the module's version, or "(devel)".
func Version() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)", ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return info.Main.Version, revision
}
