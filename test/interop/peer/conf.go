package peer

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Conf is a keystone.conf: section, option, value.
type Conf map[string]map[string]string

// with gives a copy in which other's options stand in the place of c's.
func (c Conf) with(other Conf) Conf {
	out := Conf{}
	for _, from := range []Conf{c, other} {
		for section, options := range from {
			if out[section] == nil {
				out[section] = map[string]string{}
			}
			maps.Copy(out[section], options)
		}
	}
	return out
}

// write makes the file, readable for all: it holds no secret of anybody.
func (c Conf) write(path string) error {
	var b strings.Builder
	for _, section := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "[%s]\n", section)
		for _, option := range slices.Sorted(maps.Keys(c[section])) {
			fmt.Fprintf(&b, "%s = %s\n", option, c[section][option])
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// The ways in which clouds cache, for Options.Cache.
const (
	NoCache     = ""                         // nothing in the file: each request remembers for itself alone
	PyMemcache  = "dogpile.cache.pymemcache" // Debian and the Ansible projects
	Memcached   = "dogpile.cache.memcached"  // with python-memcached
	PoolOfOwn   = "oslo_cache.memcache_pool" // kolla, TripleO
	cacheExpiry = "600"
)

// base is the one file that both servers read. Limits and lockout are as a
// fresh installation has them: off.
func (e *Env) base() Conf {
	c := Conf{
		"database": {"connection": e.Database},
		"fernet_tokens": {
			"key_repository": e.path("fernet-keys"),
		},
		"fernet_receipts": {"key_repository": e.path("fernet-keys")},
		"credential":      {"key_repository": e.path("credential-keys")},
		"token":           {"provider": "fernet"},
		// A dear hash is a matter of the hashing tests, and of nothing here.
		"identity": {"password_hash_rounds": "4"},
		"oslo_policy": {
			"policy_file": e.path("policy.yaml"),
			"policy_dirs": e.path("policy.d"),
		},
		"keystone_go": {
			"listen":       strings.TrimPrefix(e.Go.URL, "http://"),
			"admin_listen": strings.TrimPrefix(e.Go.AdminURL, "http://"),
		},
	}
	return c.with(e.Caching(e.Options.Cache))
}

// Caching is what a file says of a backend and of the memcached of the Env.
func (e *Env) Caching(backend string) Conf {
	if backend == NoCache {
		return nil
	}
	return Conf{"cache": {
		"enabled": "true", "backend": backend, "memcache_servers": e.Memcached, "expiration_time": cacheExpiry,
	}}
}
