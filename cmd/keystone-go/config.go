package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
)

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Look at the configuration",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("config needs a command: check, show or sample"), cmd}
		},
	}
	output := ""
	sample := &cobra.Command{
		Use: "sample", Short: "Print a keystone.conf with every option that has an effect",
		RunE: func(*cobra.Command, []string) error { return p.sample(output) },
	}
	sample.Flags().StringVarP(&output, "output", "o", "", "`file` to write instead of stdout")
	var strict, start bool
	check := &cobra.Command{
		Use: "check", Short: "Say what is wrong with the configuration, and what changes nothing",
		Long: `check names every fault with its file, line and option, and what would be
right; the start would be refused for each, and so the exit code is 1. It also
names options that are not known, with the nearest that are, those without
effect in this server, and those read under an older name. With --start it looks
at what the file names as well, as a start would: keys, database, policy files,
certificates; nothing is listened on.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.checkConfig(strict); err != nil || !start {
				return err
			}
			return p.withConfig(cmd.Context(), p.checkStart)
		},
	}
	check.Flags().BoolVar(&strict, "strict", false, "fail because of options that are not known, too")
	check.Flags().BoolVar(&start, "start", false, "look at what the file names, too")
	given := false
	show := &cobra.Command{
		Use: "show", Short: "Print every option with its value and where it comes from",
		Long: `show prints each option with its value and its origin: a file and line, an
environment variable, the command line, or default. Secrets that were set are
hidden.`,
		RunE: func(*cobra.Command, []string) error { return p.showConfig(given) },
	}
	show.Flags().BoolVar(&given, "given", false, "leave out what has its default")
	for _, c := range []*cobra.Command{
		sample, check, show,
	} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func (p *program) sample(output string) error {
	var b bytes.Buffer
	if err := conf.WriteSample(&b); err != nil {
		return err
	}
	return p.write(output, b.Bytes())
}

// write writes a text to a file, or without one to stdout.
func (p *program) write(file string, text []byte) error {
	if file == "" {
		_, err := p.out.Write(text)
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// checkConfig tells everything at once; it fails on faults and, when strict, on
// options that are not known.
func (p *program) checkConfig(strict bool) error {
	cfg, faults := conf.Examine(p.sources())
	for _, f := range cfg.Files {
		fmt.Fprintf(p.out, "read %s\n", f)
	}
	for _, u := range cfg.Unknown {
		near := ""
		if u.Near != "" {
			near = "; did you mean " + u.Near + "?"
		}
		fmt.Fprintf(p.out, "%s:%d: %s is not known%s\n", u.File, u.Line, u.Name, near)
	}
	for _, s := range cfg.WithoutEffect {
		if isNotServed(cfg, s.Name) {
			fmt.Fprintf(p.out, "%s: %s\n", s.Origin(), notServed(s))
		} else {
			fmt.Fprintf(p.out, "%s: %s has no effect in this server\n", s.Origin(), s.Name)
		}
	}
	if list := otherMethods(cfg); len(list) > 0 {
		fmt.Fprintf(p.out, "%s: these methods of [auth] methods are not served: %s\n", cfg.Setting("auth", "methods").Origin(), strings.Join(list, ", "))
	}
	for _, s := range cfg.Deprecated {
		if s.Was != nil {
			fmt.Fprintf(p.out, "%s: %s is an older name of %s\n", s.Origin(), s.Was, s.Name)
		} else {
			fmt.Fprintf(p.out, "%s: %s is deprecated (%s)\n", s.Origin(), s.Name, s.Removal)
		}
	}
	switch {
	case len(faults) > 0:
		return faults
	case strict && len(cfg.Unknown) > 0:
		return exitCode(failed)
	}
	return nil
}

// checkStart does what a start does but for listening.
func (p *program) checkStart(ctx context.Context, cfg *conf.Config) error {
	app, err := wire.Build(ctx, cfg, wire.Options{Log: slog.New(slog.DiscardHandler)})
	if app != nil {
		for _, w := range app.Warnings {
			fmt.Fprintf(p.out, "warning: %s\n", w)
		}
		app.Close()
	}
	_, certErr := certificates(cfg.KeystoneGo, nil)
	return errors.Join(err, certErr)
}

// showConfig prints what can be read even where there are faults, which it
// tells as well.
func (p *program) showConfig(given bool) error {
	cfg, faults := conf.Examine(p.sources())
	section := ""
	for _, s := range slices.Concat(cfg.Settings(), cfg.Dynamic()) {
		if given && s.File == "" {
			continue
		}
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(p.out, "[%s]\n", section)
		}
		fmt.Fprintf(p.out, "%s = %s  # %s\n", s.Option, strings.ReplaceAll(s.Text(), "\n", "\n\t"), s.Origin())
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}
