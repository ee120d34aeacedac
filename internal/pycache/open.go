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
)

// memcached are the backends that keep their values there, under the same keys.
var memcached = []string{
	"dogpile.cache.pymemcache", "dogpile.cache.memcached", "dogpile.cache.pylibmc", "dogpile.cache.bmemcached", "oslo_cache.memcache_pool",
}

// A write waits for [cache] socket_timeout, within these bounds.
const shortest, longest = 50 * time.Millisecond, 5 * time.Second

// Settings are [cache].
type Settings struct {
	Enabled        bool
	Backend        string
	Arguments      []string // backend_argument
	ExpirationTime int      // s
	Servers        []string // memcache_servers
	SocketTimeout  float64  // s

	SASL               bool
	Username, Password string

	TLS                       bool
	CAFile, CertFile, KeyFile string
}

// Open gives nil where Python's servers share no memcached, and a warning
// where they remember in a way that cannot be undone from here.
func Open(s Settings, log *slog.Logger) (*Caches, []string, error) {
	switch {
	case !s.Enabled, s.Backend == "dogpile.cache.null", s.Backend == "":
		return nil, nil, nil
	case !slices.Contains(memcached, s.Backend):
		return nil, []string{fmt.Sprintf("[cache] backend is %s, which is not emptied from here: "+
			"a Python Keystone beside this server sees changes %d s late, revoked tokens among them", s.Backend, s.ExpirationTime)}, nil
	}
	c := Config{Servers: s.Servers, Log: log}
	c.Timeout = min(max(time.Duration(s.SocketTimeout*float64(time.Second)), shortest), longest)
	for _, argument := range s.Arguments {
		// The old way to name the servers, which wins over the new one.
		if urls, ok := strings.CutPrefix(argument, "url:"); ok {
			c.Servers = strings.Split(urls, ",")
		}
	}
	if len(c.Servers) == 0 {
		return nil, nil, errors.New("[cache] memcache_servers names none")
	}
	if s.SASL {
		c.Username, c.Password = s.Username, s.Password
	}
	if s.TLS {
		var err error
		if c.TLS, err = tlsConfig(s); err != nil {
			return nil, nil, err
		}
	}
	p, err := New(c)
	return p, nil, err
}

func tlsConfig(s Settings) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		text, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("[cache] tls_cafile: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("[cache] tls_cafile holds no certificate")
		}
	}
	if s.CertFile != "" {
		key := s.KeyFile
		if key == "" {
			key = s.CertFile
		}
		pair, err := tls.LoadX509KeyPair(s.CertFile, key)
		if err != nil {
			return nil, fmt.Errorf("[cache] tls_certfile: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
