package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

func (p *program) dbSyncCommand() *cobra.Command {
	var check, expand, migrate, contract bool
	cmd := &cobra.Command{
		Use: "db_sync", Short: "Make the database schema, or bring it up to date", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("db_sync brings a database to the newest schema only; a version cannot be given")
			}
			if migrate {
				fmt.Fprintln(p.out, "There is nothing to do: expand and contract take the data along.")
				return nil
			}
			return p.withDB(cmd.Context(), func(ctx context.Context, d db.DB) error {
				switch {
				case check:
					return p.checkSchema(ctx, d)
				case expand:
					return migrations.Expand(ctx, d)
				case contract:
					return migrations.Contract(ctx, d)
				}
				return migrations.Sync(ctx, d)
			})
		},
	}
	cmd.Flags().BoolVar(&expand, "expand", false, "only add what the new release needs; the old one may go on")
	cmd.Flags().BoolVar(&migrate, "migrate", false, "accepted, without effect")
	cmd.Flags().BoolVar(&contract, "contract", false, "only remove what the old release needed")
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; exit with 0: up to date, 2: expand is due, 4: contract is due")
	exclusive(cmd, "expand", "migrate", "contract", "check")
	return cmd
}

// exclusive lets one of the flags stand alone, anything else being a misuse.
func exclusive(cmd *cobra.Command, names ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		first := ""
		for _, n := range names {
			if !cmd.Flags().Changed(n) {
				continue
			}
			if first != "" {
				return usageError{fmt.Errorf("--%s is not allowed with --%s", n, first), cmd}
			}
			first = n
		}
		return nil
	}
}

func (p *program) checkSchema(ctx context.Context, d db.DB) error {
	code, err := migrations.Check(ctx, d)
	if err != nil {
		return err
	}
	switch code {
	case migrations.UpToDate:
		fmt.Fprintln(p.out, "The database schema is up to date.")
		return nil
	case migrations.ExpandNeeded:
		fmt.Fprintln(p.out, "The database schema is not up to date: run db_sync, or db_sync --expand.")
	case migrations.ContractNeeded:
		fmt.Fprintln(p.out, "The database schema is expanded: when no server of the older release runs any more, run db_sync --contract.")
	}
	return exitCode(code)
}
