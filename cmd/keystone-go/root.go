package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// program is one run of the command.
type program struct {
	argv0   string
	args    []string
	env     []string
	uid     int // effective
	in      io.Reader
	out     io.Writer
	err     io.Writer
	signals <-chan os.Signal // the ones to end by
	control <-chan os.Signal // SIGHUP and SIGUSR1; nil: the process's own

	log      *olog.Log   // once the configuration is read
	stopping time.Time   // when the first signal came
	paths    []conf.Path // --config-file and --config-dir, in their order
	flags    map[string]*logFlag
}

// Exit codes, as Python's argparse has them.
const (
	failed = 1
	misuse = 2
)

// usageError is a command line that cannot be understood.
type usageError struct {
	err error
	cmd *cobra.Command
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitCode ends the program with a code and without a message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// manageName is the name of Python Keystone's program for the same verbs.
const manageName = "keystone-manage"

// name is what the program was called as.
func (p *program) name() string { return filepath.Base(p.argv0) }

// run executes the command line and gives the exit code.
func (p *program) run(ctx context.Context) int {
	cmd := p.root()
	cmd.SetArgs(append([]string{}, p.args...)) // of nil cobra would make os.Args
	cmd.SetIn(p.in)
	cmd.SetOut(p.out)
	cmd.SetErr(p.err)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if usage, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(p.err, "%s%s: error: %v\n", usage.cmd.UsageString(), usage.cmd.CommandPath(), err)
		return misuse
	}
	p.complain(err)
	return failed
}

// complain writes an error as one line, what was joined as one line each.
func (p *program) complain(err error) {
	for _, e := range apart(err) {
		fmt.Fprintf(p.err, "%s: %s\n", p.name(), strings.ReplaceAll(e.Error(), "\n", "; "))
	}
}

// apart gives the errors that were joined, and the faults of a configuration,
// one by one.
func apart(err error) []error {
	var out []error
	switch e := any(err).(type) { // as it stands: what it wraps is named in its own line
	case conf.Faults:
		for _, f := range e {
			out = append(out, f)
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, apart(one)...)
		}
	default:
		out = []error{err}
	}
	return out
}

func (p *program) root() *cobra.Command {
	switch p.name() {
	case validatorName:
		return p.validatorCommand()
	case statusName:
		return p.statusRoot()
	}
	var version bool
	root := &cobra.Command{
		Use:   p.name(),
		Short: "The OpenStack Identity server",
		Long: `keystone-go serves the OpenStack Identity API v3 on Python Keystone's database,
keys and keystone.conf, and holds keystone-manage's commands.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case version:
			return p.version()
		case len(args) == 0:
			return usageError{errors.New("a command is needed"), cmd}
		}
		advice := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			advice = "; did you mean " + strings.Join(near, ", ") + "?"
		}
		return usageError{fmt.Errorf("there is no command %q%s", args[0], advice), cmd}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{err, cmd} })
	root.SuggestionsMinimumDistance = 2
	root.Flags().BoolVar(&version, "version", false, "print the version")
	p.globalFlags(root)
	for _, c := range p.commands() {
		c.Args = usageArgs(c.Args)
		root.AddCommand(c)
	}
	return root
}

func (p *program) commands() []*cobra.Command {
	list := []*cobra.Command{
		p.serveCommand(), p.devCommand(), p.bootstrapCommand(), p.dbSyncCommand(), p.dbCopyCommand(), p.dbVersionCommand(),
		p.routesCommand(), p.configCommand(), p.policyCommand(), p.rateLimitCommand(), p.versionCommand(),
	}
	return slices.Concat(list, p.keyCommands(), p.credentialCommands(), []*cobra.Command{p.jwsCommand()},
		p.setupCommands(), p.maintenanceCommands(), p.laterCommands(), []*cobra.Command{p.doctorCommand(), p.upgradeCommand(), p.manCommand()})
}

// usageArgs makes what a check of arguments says a misuse; without a check
// there may be no arguments.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = cobra.NoArgs
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err, cmd}
		}
		return nil
	}
}
