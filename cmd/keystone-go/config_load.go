package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// load reads the configuration that the command line and the environment name.
func (p *program) load() (*conf.Config, error) {
	s := conf.Sources{Paths: p.paths, Env: p.env, Set: p.given()}
	var file, dir bool
	for _, path := range p.paths {
		file, dir = file || !path.Dir, dir || path.Dir
	}
	files, dirs := conf.Find(p.name(), p.env)
	if !file {
		s.Files = files
	}
	if !dir {
		s.Dirs = dirs
	}
	return conf.Load(s)
}

// loadLogged reads the configuration and makes its log the default one. The
// returned function ends the log.
func (p *program) loadLogged() (*conf.Config, func(), error) {
	cfg, err := p.load()
	if err != nil {
		return nil, nil, err
	}
	end, err := p.openLog(cfg)
	if err != nil {
		return nil, nil, err
	}
	if len(cfg.Files) == 0 {
		slog.Warn("No configuration file was found: the defaults hold")
	}
	return cfg, end, nil
}

// notes tells once what in the configuration changes nothing, or soon will
// not.
func notes(ctx context.Context, log *slog.Logger, cfg *conf.Config) {
	if n := len(cfg.Unknown); n > 0 {
		log.InfoContext(ctx, "The configuration has options that are not known; `config check` names them", "count", n)
	}
	if len(cfg.WithoutEffect) > 0 {
		names := make([]string, len(cfg.WithoutEffect))
		for i, s := range cfg.WithoutEffect {
			names[i] = s.String()
		}
		log.InfoContext(ctx, "These options are understood and have no effect in this server: "+strings.Join(names, ", "))
	}
	for _, s := range cfg.Deprecated {
		if s.Was != nil {
			log.WarnContext(ctx, "An option was read under an older name", "option", s.String(), "name", s.Was.String(), "at", s.Origin())
		}
	}
}
