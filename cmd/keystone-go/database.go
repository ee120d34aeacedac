package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
)

// withDB opens the database of the configuration for f.
func (p *program) withDB(ctx context.Context, f func(context.Context, *conf.Config, db.DB) error) error {
	cfg, end, err := p.loadLogged()
	if err != nil {
		return err
	}
	defer end()
	d, err := wire.OpenDB(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(ctx, cfg, d)
}

// withData opens the database that the configuration names, which must be
// there, for f; what f writes empties the caches of Python servers.
func (p *program) withData(ctx context.Context, f func(context.Context, *conf.Config, db.DB) error) error {
	return p.withConfig(ctx, func(ctx context.Context, cfg *conf.Config) error {
		if err := wire.DatabaseFile(cfg.Database.Connection); err != nil {
			return err
		}
		d, err := wire.OpenDB(ctx, cfg, nil)
		if err != nil {
			return err
		}
		defer d.Close()
		caches, warnings, err := wire.PythonCaches(cfg.Cache, slog.Default())
		if err != nil {
			return err
		}
		for _, w := range warnings {
			slog.WarnContext(ctx, w)
		}
		defer caches.Close()
		return f(ctx, cfg, caches.Watch(d))
	})
}

// ownDatabase makes the file of a SQLite database, which SQLite would let
// everybody read.
func ownDatabase(connection string) error {
	path := wire.SQLiteFile(connection)
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}
