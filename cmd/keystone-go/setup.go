package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
)

// setupCommands make one project or user with an id that is wanted.
func (p *program) setupCommands() []*cobra.Command {
	var name, id string
	project := &cobra.Command{
		Use: "project_setup", Short: "Make a project in the default domain, with an id of one's own",
		Long: "project_setup makes a project in the default domain. One of that name stays as\nit is.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withData(cmd.Context(), func(ctx context.Context, cfg *conf.Config, d db.DB) error {
				_, err := wire.SetupProject(ctx, d, said(ctx), name, id, cfg.Identity.DefaultDomainID)
				return err
			})
		},
	}
	project.Flags().StringVar(&name, "project-name", "", "`name` of the project")
	project.Flags().StringVar(&id, "project-id", "", "`id` of the project; without it a random one")
	requireFlags(project, "project-name")

	var username, password, userID string
	user := &cobra.Command{
		Use: "user_setup", Short: "Make a user in the default domain, with an id of one's own",
		Long: `user_setup makes a user in the default domain. One of that name is enabled and
gets the password given, unless he has it; with another id he is left alone and
the exit code is 1.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withData(cmd.Context(), func(ctx context.Context, cfg *conf.Config, d db.DB) error {
				h, err := wire.NewHasher(cfg)
				if err != nil {
					return err
				}
				_, err = wire.SetupUser(ctx, d, wire.NewUsers(cfg, d, h, time.Now), said(ctx), username, password, userID, cfg.Identity.DefaultDomainID)
				return err
			})
		},
	}
	user.Flags().StringVar(&username, "username", "", "`name` of the user")
	user.Flags().StringVar(&password, "user-password-plain", "", "`password` of the user")
	user.Flags().StringVar(&userID, "user-id", "", "`id` of the user; without it a random one")
	requireFlags(user, "username", "user-password-plain")
	return []*cobra.Command{project, user}
}

// said logs what a set-up says.
func said(ctx context.Context) wire.Say {
	return func(format string, args ...any) { slog.InfoContext(ctx, fmt.Sprintf(format, args...)) }
}

// requireFlags makes a call without one of the flags a misuse.
func requireFlags(cmd *cobra.Command, names ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, n := range names {
			if !cmd.Flags().Changed(n) {
				return usageError{fmt.Errorf("--%s is required", n), cmd}
			}
		}
		return nil
	}
}
