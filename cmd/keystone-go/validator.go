package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// validatorName is oslo.config's program that deployers have look at a file
// before they start a server on it.
const validatorName = "oslo-config-validator"

// validator is what its command line says.
type validator struct {
	input         string
	fatalWarnings bool
	exclude       []string
}

// validatorCommand answers like oslo-config-validator: 0 when every option of
// the file is known, else 1, and a line for each on stderr. It goes further in
// that values are looked at as well.
func (p *program) validatorCommand() *cobra.Command {
	var v validator
	var ignored struct {
		config, namespaces []string
		data, options      string
		defaults           bool
	}
	cmd := &cobra.Command{
		Use: p.name(), Short: "Look for unknown options in a keystone.conf", Args: usageArgs(nil),
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if v.input == "" {
				fmt.Fprint(p.out, cmd.UsageString())
				return errors.New("value required for option input-file")
			}
			return p.validate(v)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{err, cmd} })
	f := cmd.Flags()
	f.StringVar(&v.input, "input-file", "", "`file` to look at")
	f.BoolVar(&v.fatalWarnings, "fatal-warnings", false, "fail because of warnings, too")
	f.StringArrayVar(&v.exclude, "exclude-group", nil, "`section` to leave out; may be repeated")
	const accepted = "accepted, without effect: the options of Keystone are known"
	f.StringArrayVar(&ignored.config, "config-file", nil, accepted)
	f.StringArrayVar(&ignored.config, "config-dir", nil, accepted)
	f.StringArrayVar(&ignored.namespaces, "namespace", nil, accepted)
	f.StringVar(&ignored.data, "opt-data", "", accepted)
	f.BoolVar(&ignored.defaults, "check-defaults", false, "accepted, without effect")
	f.StringVar(&ignored.options, "exclude-options", "", "accepted, without effect")
	return cmd
}

func (p *program) validate(v validator) error {
	cfg, faults := conf.Examine(conf.Sources{Files: []string{v.input}})
	say := func(level, format string, args ...any) {
		fmt.Fprintf(p.err, level+":oslo_config.validator:"+format+"\n", args...)
	}
	excluded := func(section string) bool { return slices.Contains(v.exclude, section) }
	warned, failing := false, false
	for _, s := range slices.Concat(cfg.Settings(), cfg.Dynamic()) {
		switch {
		case s.File == "" || excluded(s.Section):
		case s.Was != nil:
			say("WARNING", "Deprecated opt %s/%s found", s.Was.Section, s.Was.Option)
			warned = true
		case s.Gone:
			say("WARNING", "%s/%s is not part of the sample config of newer releases", s.Section, s.Option)
			warned = true
		}
	}
	for _, u := range cfg.Unknown {
		switch {
		case excluded(u.Section):
		case u.Section == "keystone_authtoken":
			say("INFO", "Ignoring %s/%s: the section is not Keystone's", u.Section, u.Option)
		default:
			near := ""
			if u.Near != "" {
				near = "; did you mean " + u.Near + "?"
			}
			say("ERROR", "%s/%s is not part of the sample config%s", u.Section, u.Option, near)
			failing = true
		}
	}
	for _, f := range faults {
		if !excluded(f.Section) {
			say("ERROR", "%v", f)
			failing = true
		}
	}
	if failing || warned && v.fatalWarnings {
		return exitCode(failed)
	}
	return nil
}
