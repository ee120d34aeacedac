package wire

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/fallback"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
	limitsql "github.com/keystone-go/keystone-go/ratelimit/sql"
)

// redisOptions is how [rate_limit] says that Redis is reached.
type redisOptions struct {
	url           string
	ca, cert, key string
	sentinel      string
	cluster       bool
}

// redisOf reads the file with the URL too.
func redisOf(c conf.RateLimit) (redisOptions, error) {
	o := redisOptions{
		url: c.RedisURL, ca: c.RedisTLSCAFile, cert: c.RedisTLSCertFile, key: c.RedisTLSKeyFile,
		sentinel: c.RedisSentinel, cluster: c.RedisCluster,
	}
	if c.RedisURLFile == "" {
		return o, nil
	}
	text, err := os.ReadFile(c.RedisURLFile)
	if err != nil {
		return o, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if o.url = strings.TrimSpace(line); o.url == "" {
		return o, fmt.Errorf("%s has no URL in its first line", c.RedisURLFile)
	}
	return o, nil
}

// storeOptions are all options of where the counters live: a limiter goes on
// with its debts only where they are the same.
type storeOptions struct {
	store     string
	redis     redisOptions
	instances int
	database  conf.Database // for sql, and for the secret of the keys
	secret    string        // key_secret
}

func (b *builder) storeOptions() (storeOptions, error) {
	c := b.cfg.RateLimit
	o := storeOptions{store: c.Store, instances: 1}
	if c.Store == "memory" || c.Mode == "off" {
		o.store = "memory"
		return o, nil
	}
	if c.Instances != nil {
		o.instances = *c.Instances
	}
	o.database, o.secret = b.cfg.Database, c.KeySecret
	var err error
	if c.Store == "redis" {
		o.redis, err = redisOf(c)
	}
	return o, err
}

// limitNeeds are the steps before the limits: the database where they count in
// it.
func (b *builder) limitNeeds() []string {
	if b.cfg.RateLimit.Store == "sql" {
		return []string{"metrics", "database"}
	}
	return []string{"metrics"}
}

// limitStores gives the openers of the limiters' stores, by what a limiter
// does while a shared store is away.
func (b *builder) limitStores(ctx context.Context) (func(onFailure string) ratelimit.Opener, error) {
	o, err := b.storeOptions()
	if err != nil {
		return nil, b.blame("rate_limit", "redis_url_file", err)
	}
	b.store = o
	if o.store == "memory" {
		return func(string) ratelimit.Opener { return memory.Open }, nil
	}
	if !o.secretive() {
		b.app.Warnings = append(b.app.Warnings, "[rate_limit] key_secret is not set, and neither Redis nor the database has a password to take its place: whoever reads the shared store can find out the addresses in it")
	}
	s, err := held(b, "limit store", o, func() (*sharedStore, error) { return b.openShared(ctx, o) }, func(s *sharedStore) { s.close() })
	if err != nil {
		return nil, err
	}
	return func(onFailure string) ratelimit.Opener { return s.guard.Opener(fallback.Policy(onFailure)) }, nil
}

// sharedStore is the store that all limiters share with other processes.
type sharedStore struct {
	guard *fallback.Guard
	close func()
}

func (b *builder) openShared(ctx context.Context, o storeOptions) (*sharedStore, error) {
	cfg := fallback.Config{Instances: o.instances, Log: b.Log}
	if o.store == "redis" {
		client, err := b.dialRedis(o)
		if err != nil {
			return nil, err
		}
		guard := fallback.New(client.Open, cfg)
		// A store that is away now may come back: the start does not wait for it.
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := client.Ping(ctx); err != nil {
			guard.Away()
			b.app.Warnings = append(b.app.Warnings, fmt.Sprintf(
				"[rate_limit] the store of the limits does not answer (%v): until it does, each limit follows its on_store_failure", err))
		}
		return &sharedStore{guard: guard, close: client.Close}, nil
	}
	if err := migrations.VerifyOwn(ctx, b.app.DB, migrations.RateLimit); errors.Is(err, migrations.ErrBehind) {
		return nil, b.blame("rate_limit", "store", errors.New("the table of the limits is missing or older than this release needs: run db_sync"))
	} else if err != nil {
		return nil, fmt.Errorf("the table of the limits: %w", err)
	}
	client := limitsql.New(limitsql.Config{DB: b.app.DB, Secret: limitSecret(o)})
	return &sharedStore{guard: fallback.New(client.Open, cfg), close: func() {}}, nil
}

func (b *builder) dialRedis(o storeOptions) (*redis.Client, error) {
	stats := b.stats
	client, err := redis.Dial(redis.Config{
		Observe: func(outcome string, took time.Duration) { stats.Stored("redis", outcome, took) },
		URL:     o.redis.url, SentinelMaster: o.redis.sentinel, Cluster: o.redis.cluster,
		CAFile: o.redis.ca, CertFile: o.redis.cert, KeyFile: o.redis.key, Secret: limitSecret(o),
	})
	if err != nil {
		option := "redis_url"
		if b.cfg.RateLimit.RedisURLFile != "" {
			option = "redis_url_file"
		}
		return nil, b.blame("rate_limit", option, err)
	}
	return client, nil
}

// secretive tells whether the hashes in a shared store have a key that is
// nobody's but the instances'.
func (o storeOptions) secretive() bool {
	return o.secret != "" || passwordIn(o.redis.url) != "" || passwordIn(o.database.Connection) != ""
}

// limitSecret keys the hashes that stand in a shared store for addresses and
// names. Where key_secret is not given, it is made of what all instances of a
// cloud have in common and the store does not hold: the passwords for Redis and
// for the database.
func limitSecret(o storeOptions) []byte {
	if o.secret != "" {
		return []byte(o.secret)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "keystone-go rate limit keys\n%q\n%q", passwordIn(o.redis.url), passwordIn(o.database.Connection)))
	return sum[:]
}

// passwordIn takes the password out of a URL, "" where there is none.
func passwordIn(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	credentials, _, ok := cutLast(rest, "@")
	if !ok {
		return ""
	}
	_, password, _ := strings.Cut(credentials, ":")
	if plain, err := url.PathUnescape(password); err == nil {
		return plain
	}
	return password
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
