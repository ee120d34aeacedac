package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// load reads the configuration that the command line and the environment name.
func (p *program) load() (*conf.Config, error) { return conf.Load(p.sources()) }

func (p *program) sources() conf.Sources {
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
	return s
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
	var names []string
	for _, s := range cfg.WithoutEffect {
		if !isNotServed(cfg, s.Name) {
			names = append(names, s.String())
		}
	}
	if len(names) > 0 {
		log.InfoContext(ctx, "These options are understood and have no effect in this server: "+strings.Join(names, ", "))
	}
	for _, s := range cfg.NotServed {
		log.WarnContext(ctx, notServed(s), "at", s.Origin())
	}
	if list := otherMethods(cfg); len(list) > 0 {
		log.WarnContext(ctx, "These methods of [auth] methods are not served: "+strings.Join(list, ", "), "at", cfg.Setting("auth", "methods").Origin())
	}
	for _, s := range cfg.Deprecated {
		if s.Was != nil {
			log.WarnContext(ctx, "An option was read under an older name", "option", s.String(), "name", s.Was.String(), "at", s.Origin())
		}
	}
}

func isNotServed(cfg *conf.Config, n conf.Name) bool {
	return slices.ContainsFunc(cfg.NotServed, func(s conf.Setting) bool { return s.Name == n })
}

// notServed says of an option with another value than the one served what is
// done instead.
func notServed(s conf.Setting) string {
	served := "sql"
	if s.Default != nil {
		served = *s.Default
	}
	return fmt.Sprintf("%s = %s is not served: this server acts as with %s", s.Name, s.Text(), served)
}

// servedMethods are the methods of authentication that this server knows.
var servedMethods = []string{"password", "token"}

// otherMethods are the methods that a file asks for and that are not served;
// those of the default list are nobody's wish.
func otherMethods(cfg *conf.Config) []string {
	if cfg.Setting("auth", "methods").File == "" {
		return nil
	}
	var list []string
	for _, m := range cfg.Auth.Methods {
		if !slices.Contains(servedMethods, m) && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
