package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/resource"
	"github.com/keystone-go/keystone-go/trust"
)

// maintenanceCommands are the verbs that tidy the database up.
func (p *program) maintenanceCommands() []*cobra.Command {
	return []*cobra.Command{p.resetLastActiveCommand(), p.trustFlushCommand(), p.mappingPurgeCommand(), p.domainConfigUploadCommand()}
}

func (p *program) resetLastActiveCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "reset_last_active", Short: "Count users who were never seen as seen today",
		Long: `reset_last_active sets the day of the last activity to today for every user who
has none. The days of [security_compliance] disable_user_account_days_inactive
begin anew for them, also for those who have never logged in.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !force && !p.confirmed() {
				return errors.New("reset_last_active aborted")
			}
			return p.withData(cmd.Context(), func(ctx context.Context, _ *conf.Config, d db.DB) error {
				n, err := identity.ResetLastActive(ctx, d, time.Now())
				if err == nil {
					slog.InfoContext(ctx, "Users were counted as seen today", "count", n)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}

// confirmed asks on stdout whether to go on; anything but yes is no.
func (p *program) confirmed() bool {
	fmt.Fprint(p.out, `Security warning: every user without a day of last activity will count as active
today, also one who has never logged in. With disable_user_account_days_inactive
such users stay enabled until that many days from now have passed.
Are you sure you want to continue [y/N]? `)
	line, _ := bufio.NewReader(p.in).ReadString('\n')
	switch strings.ToLower(strings.TrimRight(line, "\r\n")) {
	case "y", "yes":
		return true
	}
	return false
}

// trustDate is how trust_flush --date is written.
const trustDate = "02-01-2006"

func (p *program) trustFlushCommand() *cobra.Command {
	var f trust.FlushFilter
	var date string
	cmd := &cobra.Command{
		Use: "trust_flush", Short: "Delete trusts that expired or were deleted softly",
		RunE: func(cmd *cobra.Command, _ []string) error {
			before := time.Now()
			if date != "" {
				var err error
				if before, err = time.Parse(trustDate, date); err != nil {
					return fmt.Errorf("--date: %q is not a date in the form DD-MM-YYYY", date)
				}
			}
			return p.withData(cmd.Context(), func(ctx context.Context, _ *conf.Config, d db.DB) error {
				n, err := trust.Flush(ctx, d, before, f)
				if err == nil {
					slog.InfoContext(ctx, "Trusts were deleted", "count", n)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&f.ProjectID, "project-id", "", "only trusts on the project of this `id`")
	cmd.Flags().StringVar(&f.TrustorUserID, "trustor-user-id", "", "only trusts by the user of this `id`")
	cmd.Flags().StringVar(&f.TrusteeUserID, "trustee-user-id", "", "only trusts to the user of this `id`")
	cmd.Flags().StringVar(&date, "date", "", "only trusts that expired before this `day`, DD-MM-YYYY; without it: before now")
	return cmd
}

func (p *program) mappingPurgeCommand() *cobra.Command {
	var f identity.MappingFilter
	var domain string
	var all bool
	cmd := &cobra.Command{
		Use: "mapping_purge", Short: "Forget the ids of users and groups of other sources",
		RunE: func(cmd *cobra.Command, _ []string) error {
			some := false
			for _, name := range []string{"domain-name", "public-id", "local-id", "type"} {
				given := cmd.Flags().Changed(name)
				if value, _ := cmd.Flags().GetString(name); given && value == "" {
					return usageError{fmt.Errorf("--%s is empty", name), cmd} // which must not mean any
				}
				some = some || given
			}
			switch {
			case !slices.Contains([]string{"", "user", "group"}, f.Type):
				return usageError{fmt.Errorf("--type: %q is not known; give user or group", f.Type), cmd}
			case !some && !all:
				return errors.New("at least one option must be given, --all for everything")
			case some && all:
				return errors.New("--all cannot stand with other options")
			}
			return p.withData(cmd.Context(), func(ctx context.Context, _ *conf.Config, d db.DB) error {
				return purge(ctx, d, domain, f)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	cmd.Flags().StringVar(&domain, "domain-name", "", "only those of the domain of this `name`")
	cmd.Flags().StringVar(&f.PublicID, "public-id", "", "only the one with this `id` here")
	cmd.Flags().StringVar(&f.LocalID, "local-id", "", "only those with this `id` at their source")
	cmd.Flags().StringVar(&f.Type, "type", "", "only those of a `kind`, user or group")
	return cmd
}

func purge(ctx context.Context, d db.DB, domain string, f identity.MappingFilter) error {
	if domain != "" {
		found, err := db.One(ctx, d, resource.DomainByName(domain))
		if errors.Is(err, db.ErrNoRow) {
			return fmt.Errorf("--domain-name: there is no domain %q", domain)
		}
		if err != nil {
			return err
		}
		f.DomainID = found.ID
	}
	n, err := identity.PurgeMappings(ctx, d, f)
	if err == nil {
		slog.InfoContext(ctx, "Id mappings were purged", "count", n)
	}
	return err
}
