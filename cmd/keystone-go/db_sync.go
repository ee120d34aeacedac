package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
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
			return p.withDB(cmd.Context(), func(ctx context.Context, cfg *conf.Config, d db.DB) error {
				forward := migrations.Sync
				switch {
				case check:
					return p.checkSchema(ctx, cfg, d)
				case contract:
					return migrations.Contract(ctx, d)
				case expand:
					forward = migrations.Expand
				}
				if err := forward(ctx, d); err != nil {
					return err
				}
				return ownTables(ctx, cfg, d)
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

// ownTables makes the tables of our own that the configuration asks for.
func ownTables(ctx context.Context, cfg *conf.Config, d db.DB) error {
	if cfg.RateLimit.Store != "sql" {
		return nil
	}
	return migrations.SyncOwn(ctx, d, migrations.RateLimit)
}

// checkOwn gives the exit code of --check for them.
func checkOwn(ctx context.Context, cfg *conf.Config, d db.DB) (int, error) {
	if cfg.RateLimit.Store != "sql" {
		return migrations.UpToDate, nil
	}
	err := migrations.VerifyOwn(ctx, d, migrations.RateLimit)
	if errors.Is(err, migrations.ErrBehind) {
		return migrations.ExpandNeeded, nil
	}
	return migrations.UpToDate, err
}

func (p *program) checkSchema(ctx context.Context, cfg *conf.Config, d db.DB) error {
	code, err := migrations.Check(ctx, d)
	if err == nil && code != migrations.ExpandNeeded {
		var own int
		if own, err = checkOwn(ctx, cfg, d); own != migrations.UpToDate {
			code = own
		}
	}
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
