package redis

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// Client is the way to one server, or to several that are one: all limiters of
// a process share its connections and its breaker.
type Client struct {
	server  goredis.UniversalClient
	cfg     Config
	script  script
	breaker breaker
	several bool // the keys of one call must share a hash tag
	// clock is a reading for the script in place of the server's TIME; tests
	// alone set it, with a script that asks for it.
	clock func() time.Duration
}

// quiet ends go-redis' own log: it goes to stderr, past the caller's.
var quiet = sync.OnceFunc(func() { goredis.SetLogger(silence{}) })

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// Dial makes a client. It sends nothing: a server that is away is no error.
func Dial(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	t, err := cfg.parse()
	if err != nil {
		return nil, err
	}
	quiet()
	server, err := cfg.connect(t)
	if err != nil {
		return nil, err
	}
	return &Client{server: server, cfg: cfg, script: take, breaker: breaker{now: ratelimit.Monotonic}, several: cfg.Cluster}, nil
}

// connect makes go-redis' client. Whatever it would do again by itself is off:
// a charge that seems lost may have been made.
func (c Config) connect(t target) (goredis.UniversalClient, error) {
	secure, err := c.tls(t)
	if err != nil {
		return nil, err
	}
	const once = -1
	off := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch {
	case c.Cluster:
		return goredis.NewClusterClient(&goredis.ClusterOptions{
			Addrs: t.hosts, Username: t.user, Password: t.password, TLSConfig: secure, Protocol: 2,
			MaxRetries: once, MaxRedirects: 3, MinRetryBackoff: once, MaxRetryBackoff: once, DialerRetries: 1,
			DialTimeout: c.DialTimeout, ReadTimeout: c.Budget, WriteTimeout: c.Budget, ContextTimeoutEnabled: true,
			PoolSize: c.PoolSize, MaxActiveConns: c.PoolSize, PoolTimeout: c.Budget,
			DisableIdentity: true, DisableRoutingPolicies: true, MaintNotificationsConfig: off,
		}), nil
	case t.sentinel:
		return goredis.NewFailoverClient(&goredis.FailoverOptions{
			MasterName: c.SentinelMaster, SentinelAddrs: t.hosts,
			SentinelUsername: t.sentinelUser, SentinelPassword: t.sentinelPassword,
			Username: t.user, Password: t.password, DB: t.database, TLSConfig: secure, Protocol: 2,
			MaxRetries: once, DialerRetries: 1,
			DialTimeout: c.DialTimeout, ReadTimeout: c.Budget, WriteTimeout: c.Budget, ContextTimeoutEnabled: true,
			PoolSize: c.PoolSize, MaxActiveConns: c.PoolSize, PoolTimeout: c.Budget,
			DisableIdentity: true,
		}), nil
	}
	return goredis.NewClient(&goredis.Options{
		Network: t.network, Addr: t.hosts[0], Username: t.user, Password: t.password, DB: t.database, TLSConfig: secure, Protocol: 2,
		MaxRetries: once, DialerRetries: 1,
		DialTimeout: c.DialTimeout, ReadTimeout: c.Budget, WriteTimeout: c.Budget, ContextTimeoutEnabled: true,
		PoolSize: c.PoolSize, MaxActiveConns: c.PoolSize, PoolTimeout: c.Budget,
		DisableIdentity: true, MaintNotificationsConfig: off,
	}), nil
}

// Close ends the connections. The stores fail from then on.
func (c *Client) Close() { _ = c.server.Close() }

// Broken tells whether the breaker is open: the server is taken to be away.
func (c *Client) Broken() bool { return c.breaker.open() }

// Ping asks the server for a sign of life, and tells the breaker.
func (c *Client) Ping(ctx context.Context) error {
	return c.ask(ctx, func(ctx context.Context) error { return c.server.Ping(ctx).Err() })
}

// unreadable begins the script's own error, for a state that it did not write.
const unreadable = "STATE unreadable"

// ask runs f within the budget, if the breaker lets it.
func (c *Client) ask(ctx context.Context, f func(context.Context) error) error {
	leave, err := c.breaker.enter()
	if err != nil {
		c.told(Spared, 0)
		return err
	}
	begun := ratelimit.Monotonic()
	limited, cancel := context.WithTimeout(ctx, c.cfg.Budget)
	defer cancel()
	err = f(limited)
	took := ratelimit.Monotonic() - begun
	switch {
	case err == nil:
		leave.end(worked)
		c.told(Done, took)
	case ctx.Err() != nil:
		leave.end(unknown)
		c.told(Gone, took)
		return ctx.Err()
	case goredis.HasErrorPrefix(err, unreadable):
		// One key is spoilt; the server is well, and others must not pay.
		leave.end(worked)
		c.told(Broke, took)
		return fmt.Errorf("redis: %w", err)
	default:
		leave.end(broke)
		c.told(Broke, took)
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

func (c *Client) told(outcome string, took time.Duration) {
	if c.cfg.Observe != nil {
		c.cfg.Observe(outcome, took)
	}
}

// once is a command that go-redis must not send again, whatever became of it.
type once struct{ *goredis.Cmd }

// NoRetry is what go-redis asks before it sends a command again.
func (once) NoRetry() bool { return true }

// run has the server decide: four numbers for each key. Only when the server
// says that it does not know the script is a second call made: then the first
// did nothing.
func (c *Client) run(ctx context.Context, keys []string, args []any) (answer []int64, err error) {
	if c.clock != nil {
		now := c.clock().Microseconds()
		args = append(args, now/1e6, now%1e6)
	}
	err = c.ask(ctx, func(ctx context.Context) error {
		answer, err = c.eval(ctx, "evalsha", c.script.hash, keys, args)
		if goredis.HasErrorPrefix(err, "NOSCRIPT") {
			answer, err = c.eval(ctx, "eval", c.script.text, keys, args)
		}
		return err
	})
	if err == nil && len(answer) != 4*len(keys) {
		err = errors.New("redis: the answer has another form than the script's")
	}
	return answer, err
}

func (c *Client) eval(ctx context.Context, verb, what string, keys []string, args []any) ([]int64, error) {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, verb, what, len(keys))
	for _, k := range keys {
		words = append(words, k)
	}
	cmd := once{goredis.NewCmd(ctx, append(words, args...)...)}
	cmd.SetFirstKeyPos(3)
	_ = c.server.Process(ctx, cmd)
	return cmd.Int64Slice()
}

// hash is what stands in the server for a key or a text.
func (c *Client) hash(kind string, b []byte) [16]byte {
	h := hmac.New(sha256.New, c.cfg.Secret)
	h.Write([]byte(kind))
	h.Write([]byte{0})
	h.Write(b)
	return [16]byte(h.Sum(nil))
}

// tag is the part of a key's name that a cluster places it by: one for all
// limiters, so that they can decide on an address in one call.
func (c *Client) tag(k ratelimit.Key) string {
	b := k.Bytes()
	h := c.hash("key", b[:])
	return base64.RawURLEncoding.EncodeToString(h[:])
}
