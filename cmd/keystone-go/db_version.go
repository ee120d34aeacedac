package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

func (p *program) dbVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "db_version", Short: "Print the revision of the database schema",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withDB(cmd.Context(), func(ctx context.Context, _ *conf.Config, d db.DB) error {
				state, err := migrations.Version(ctx, d)
				if err != nil {
					return err
				}
				revision := state.Expand
				if revision == "" {
					revision = "None" // as keystone-manage prints it
				}
				fmt.Fprintln(p.out, revision)
				return nil
			})
		},
	}
}
