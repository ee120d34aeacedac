package wire

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/pycache"
)

// caches are those of Python Keystone servers on the same database. What is
// written by way of App.DB from here on empties them; what a login writes does
// not, since Python remembers none of it.
func (b *builder) caches(context.Context) error {
	p, err := held(b, "caches", b.cfg.Cache, func() (*pycache.Caches, error) {
		p, warnings, err := PythonCaches(b.cfg.Cache, b.Log)
		b.app.Warnings = append(b.app.Warnings, warnings...)
		return p, err
	}, (*pycache.Caches).Close)
	if err != nil {
		return err
	}
	b.app.caches, b.unwatched = p, b.app.DB
	b.app.DB = p.Watch(b.app.DB)
	return nil
}

// PythonCaches opens the caches of [cache]; nil where there are none to empty.
func PythonCaches(c conf.Cache, log *slog.Logger) (*pycache.Caches, []string, error) {
	p, warnings, err := pycache.Open(pycache.Settings{
		Enabled: c.Enabled, Backend: c.Backend, Arguments: c.BackendArgument, ExpirationTime: c.ExpirationTime,
		Servers: c.MemcacheServers, SocketTimeout: c.SocketTimeout,
		SASL: c.MemcacheSASLEnabled, Username: c.Username, Password: c.Password,
		TLS: c.TLSEnabled, CAFile: c.TLSCafile, CertFile: c.TLSCertfile, KeyFile: c.TLSKeyfile,
	}, log)
	if err != nil {
		err = fmt.Errorf("the cache of Python Keystone: %w", err)
	}
	return p, warnings, err
}
