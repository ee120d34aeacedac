package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
	for _, c := range []*cobra.Command{
		sample,
		{
			Use: "check", Short: "Say what is wrong with the configuration, and what changes nothing",
			RunE: func(*cobra.Command, []string) error { return p.checkConfig() },
		},
		{
			Use: "show", Short: "Print every option with its value and where it comes from",
			RunE: func(*cobra.Command, []string) error { return p.showConfig() },
		},
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
	if output == "" {
		_, err := p.out.Write(b.Bytes())
		return err
	}
	return os.WriteFile(output, b.Bytes(), 0o644)
}

// checkConfig fails on faults alone; the rest is told.
func (p *program) checkConfig() error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
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
		fmt.Fprintf(p.out, "%s: %s has no effect in this server\n", s.Origin(), s.Name)
	}
	for _, s := range cfg.Deprecated {
		if s.Was != nil {
			fmt.Fprintf(p.out, "%s: %s is an older name of %s\n", s.Origin(), s.Was, s.Name)
		} else {
			fmt.Fprintf(p.out, "%s: %s is deprecated (%s)\n", s.Origin(), s.Name, s.Removal)
		}
	}
	return nil
}

func (p *program) showConfig() error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	section := ""
	for _, s := range cfg.Settings() {
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(p.out, "[%s]\n", section)
		}
		fmt.Fprintf(p.out, "%s = %s  # %s\n", s.Option, s.Text(), s.Origin())
	}
	return nil
}
