package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// finding is one thing that a check found, in a few words and at length.
type finding struct{ title, text string }

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for common faults of an installation",
		Long: `doctor makes the checks of keystone-manage doctor, and checks of its own. It
prints what it finds, and the exit code is 1 when it finds anything. Called as
keystone-manage, the checks that keystone-manage has decide the exit code alone.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withConfig(cmd.Context(), p.doctor)
		},
	}
}

// doctor prints warnings, which count for the exit code, and notes, which do
// not.
func (p *program) doctor(ctx context.Context, cfg *conf.Config) error {
	ill := false
	for _, s := range symptoms {
		if cfg.Default.Debug {
			fmt.Fprintf(p.out, "Checking for %s...\n", s.name)
		}
		if s.fires(ctx, p, cfg) {
			ill = true
			p.print("WARNING", s.finding)
		}
	}
	warnings, notes := ownFindings(ctx, cfg)
	if p.name() == manageName {
		warnings, notes = nil, append(warnings, notes...)
	}
	for _, f := range warnings {
		p.print("WARNING", f)
	}
	for _, f := range notes {
		p.print("NOTE", f)
	}
	if ill || len(warnings) > 0 {
		return exitCode(failed)
	}
	return nil
}

func (p *program) print(level string, f finding) {
	fmt.Fprintf(p.out, "\n%s: %s\n\n", level, f.title)
	for paragraph := range strings.SplitSeq(f.text, "\n") {
		for _, line := range fold(paragraph, 76) {
			fmt.Fprintf(p.out, "    %s\n", line)
		}
	}
}

// fold breaks text at spaces into lines of at most width bytes where it can.
func fold(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
