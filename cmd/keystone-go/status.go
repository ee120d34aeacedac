package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// statusName is the program of Python Keystone that looks whether an upgrade
// may go on.
const statusName = "keystone-status"

// verdict is what one check of an upgrade came to; the codes are the exit
// codes of keystone-status.
type verdict struct {
	code    int
	details string // "" for none
}

const (
	allWell = 0
	failure = 2
	// broken says that a check could not be made.
	broken = 255
)

// upgradeChecks are those of keystone/cmd/status.py.
var upgradeChecks = []struct {
	name string
	do   func(context.Context, *conf.Config) (verdict, error)
}{
	{"Check trust policies are not empty", trustPolicies},
	{"Check default roles are immutable", defaultRoles},
	{"Policy File JSON to YAML Migration", policyForm},
}

func (p *program) upgradeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "upgrade check", Short: "Look whether an upgrade of Keystone may go on", Args: cobra.ExactArgs(1),
		Long: `upgrade check makes the checks of keystone-status. The exit code is 0 when all
is well, 2 when something has to be done first, and 255 when a check could not
be made.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withConfig(cmd.Context(), func(ctx context.Context, cfg *conf.Config) error {
				return p.upgradeCheck(ctx, cfg, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return cmd
}

func (p *program) upgradeCheck(ctx context.Context, cfg *conf.Config, asJSON bool) error {
	worst := allWell
	verdicts := make([]verdict, len(upgradeChecks))
	for i, c := range upgradeChecks {
		v, err := c.do(ctx, cfg)
		if err != nil {
			fmt.Fprintf(p.out, "Error:\n%s: %v\n", c.name, err)
			return exitCode(broken)
		}
		verdicts[i], worst = v, max(worst, v.code)
	}
	if asJSON {
		fmt.Fprintln(p.out, upgradeJSON(verdicts))
	} else {
		fmt.Fprint(p.out, upgradeTable(verdicts))
	}
	if worst != allWell {
		return exitCode(worst)
	}
	return nil
}

const upgradeTitle = "Upgrade Check Results"

func upgradeJSON(verdicts []verdict) string {
	checks := []any{}
	for i, v := range verdicts {
		var details any
		if v.details != "" {
			details = v.details
		}
		checks = append(checks, pyjson.Object{
			{Key: "check", Value: upgradeChecks[i].name},
			{Key: "result", Value: json.Number(fmt.Sprint(v.code))},
			{Key: "details", Value: details},
		})
	}
	return string(pyjson.Encode(pyjson.Object{{Key: "name", Value: upgradeTitle}, {Key: "checks", Value: checks}}))
}

// upgradeTable draws the table of oslo.upgradecheck.
func upgradeTable(verdicts []verdict) string {
	cells := [][]string{{upgradeTitle}}
	for i, v := range verdicts {
		details := "None"
		if v.details != "" {
			details = strings.Join(foldHanging(v.details, 60), "\n")
		}
		result := map[int]string{allWell: "Success", failure: "Failure"}[v.code]
		cells = append(cells, strings.Split(fmt.Sprintf("Check: %s\nResult: %s\nDetails: %s", upgradeChecks[i].name, result, details), "\n"))
	}
	width := 0
	for _, lines := range cells {
		for _, l := range lines {
			width = max(width, len([]rune(l)))
		}
	}
	rule := "+" + strings.Repeat("-", width+2) + "+\n"
	var b strings.Builder
	b.WriteString(rule)
	for _, lines := range cells {
		for _, l := range lines {
			fmt.Fprintf(&b, "| %s%s |\n", l, strings.Repeat(" ", width-len([]rune(l))))
		}
		b.WriteString(rule)
	}
	return b.String()
}

// foldHanging folds text with two blanks before all lines but the first.
func foldHanging(text string, width int) []string {
	lines := fold(text, width)
	if len(lines) == 1 {
		return lines
	}
	rest := fold(strings.TrimPrefix(strings.Join(lines, " "), lines[0]+" "), width-2)
	for i := range rest {
		rest[i] = "  " + rest[i]
	}
	return append(lines[:1], rest...)
}

// trustRules guard trusts, which releases before this one also guarded in the
// code.
var trustRules = []string{
	"identity:list_trusts", "identity:delete_trust", "identity:get_trust",
	"identity:list_roles_for_trust", "identity:get_role_for_trust",
}

func trustPolicies(_ context.Context, cfg *conf.Config) (verdict, error) {
	engine, err := wire.NewPolicy(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return verdict{}, err
	}
	var open []string
	for _, r := range trustRules {
		if engine.Always(r) {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		return verdict{failure, "The policy files let everybody do what these rules guard: " + strings.Join(open, ", ") + ". Take the overrides out, or give them a check that is not empty."}, nil
	}
	return verdict{allWell, "Trust policies are safe."}, nil
}

func defaultRoles(ctx context.Context, cfg *conf.Config) (verdict, error) {
	if err := wire.DatabaseFile(cfg.Database.Connection); err != nil {
		return verdict{}, err
	}
	d, err := wire.OpenDB(ctx, cfg, nil)
	if err != nil {
		return verdict{}, err
	}
	defer d.Close()
	names, err := db.All(ctx, d, assignment.Mutable("admin", "member", "reader"))
	if err != nil {
		return verdict{}, err
	}
	if len(names) > 0 {
		return verdict{failure, "Roles are not immutable: " + strings.Join(names, ", ")}, nil
	}
	return verdict{allWell, "Default roles are immutable."}, nil
}

// policyForm fails when the policy file is JSON, which oslo.policy is about to
// drop.
func policyForm(_ context.Context, cfg *conf.Config) (verdict, error) {
	path := cfg.OsloPolicy.PolicyFile
	candidates := []string{path}
	if !filepath.IsAbs(path) {
		candidates = nil
		for _, dir := range cfg.Dirs {
			candidates = append(candidates, filepath.Join(dir, path))
		}
	}
	for _, c := range candidates {
		text, err := os.ReadFile(c)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return verdict{}, err
		}
		if json.Valid(text) {
			return verdict{failure, "The policy file " + c + " is JSON, which newer releases of Python Keystone do not read. Write it as YAML: oslopolicy-convert-json-to-yaml does, and this server reads both."}, nil
		}
		break
	}
	return verdict{code: allWell}, nil
}

// statusRoot is the program under the name keystone-status.
func (p *program) statusRoot() *cobra.Command {
	root := &cobra.Command{
		Use: p.name(), Short: "Look whether an upgrade of Keystone may go on", Args: cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q", args[0]), cmd}
			}
			return usageError{errors.New("a command is needed: upgrade check"), cmd}
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{err, cmd} })
	p.globalFlags(root)
	c := p.upgradeCommand()
	c.Args = usageArgs(c.Args)
	root.AddCommand(c)
	return root
}
