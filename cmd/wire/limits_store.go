package wire

import (
	"errors"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/memory"
)

// redisOptions is how [rate_limit] says that Redis is reached.
type redisOptions struct {
	url, file     string
	ca, cert, key string
	sentinel      string
	cluster       bool
}

func redisOf(c conf.RateLimit) redisOptions {
	return redisOptions{
		url: c.RedisURL, file: c.RedisURLFile, ca: c.RedisTLSCAFile, cert: c.RedisTLSCertFile, key: c.RedisTLSKeyFile,
		sentinel: c.RedisSentinel, cluster: c.RedisCluster,
	}
}

// limitStores gives the openers of the limiters' stores, by what a limiter
// does while a shared store is away.
func (b *builder) limitStores() (func(onFailure string) ratelimit.Opener, error) {
	if store := b.cfg.RateLimit.Store; store != "memory" {
		_ = redisOf(b.cfg.RateLimit)
		return nil, b.blame("rate_limit", "store", errors.New(store+" is not served yet; give memory"))
	}
	return func(string) ratelimit.Opener { return memory.Open }, nil
}
