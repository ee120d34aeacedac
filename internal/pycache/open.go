package pycache

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// memcached are the backends that keep their values there, under the same keys.
var memcached = []string{
	"dogpile.cache.pymemcache", "dogpile.cache.memcached", "dogpile.cache.pylibmc", "dogpile.cache.bmemcached", "oslo_cache.memcache_pool",
}

// A write waits for [cache] socket_timeout, within these bounds.
const shortest, longest = 50 * time.Millisecond, 5 * time.Second

// Open reads [cache]. It gives nil where Python's servers share no memcached,
// and a warning where they remember in a way that cannot be undone from here.
func Open(c conf.Cache, log *slog.Logger) (*Caches, []string, error) {
	switch {
	case !c.Enabled, c.Backend == "dogpile.cache.null", c.Backend == "":
		return nil, nil, nil
	case !slices.Contains(memcached, c.Backend):
		return nil, []string{fmt.Sprintf("[cache] backend is %s, which is not emptied from here: "+
			"a Python Keystone beside this server sees changes %d s late, revoked tokens among them", c.Backend, c.ExpirationTime)}, nil
	}
	o := Config{Servers: c.MemcacheServers, Log: log}
	o.Timeout = min(max(time.Duration(c.SocketTimeout*float64(time.Second)), shortest), longest)
	for _, argument := range c.BackendArgument {
		// The old way to name the servers, which wins over the new one.
		if urls, ok := strings.CutPrefix(argument, "url:"); ok {
			o.Servers = strings.Split(urls, ",")
		}
	}
	if len(o.Servers) == 0 {
		return nil, nil, errors.New("[cache] memcache_servers names none")
	}
	if c.MemcacheSASLEnabled {
		o.Username, o.Password = c.Username, c.Password
	}
	if c.TLSEnabled {
		var err error
		if o.TLS, err = tlsConfig(c); err != nil {
			return nil, nil, err
		}
	}
	p, err := New(o)
	return p, nil, err
}

func tlsConfig(c conf.Cache) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLSCafile != "" {
		text, err := os.ReadFile(c.TLSCafile)
		if err != nil {
			return nil, fmt.Errorf("[cache] tls_cafile: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("[cache] tls_cafile holds no certificate")
		}
	}
	if c.TLSCertfile != "" {
		key := c.TLSKeyfile
		if key == "" {
			key = c.TLSCertfile
		}
		pair, err := tls.LoadX509KeyPair(c.TLSCertfile, key)
		if err != nil {
			return nil, fmt.Errorf("[cache] tls_certfile: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
