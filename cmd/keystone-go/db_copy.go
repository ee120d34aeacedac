package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbcopy"
)

func (p *program) dbCopyCommand() *cobra.Command {
	var from, to string
	var dry bool
	var rows int
	cmd := &cobra.Command{
		Use: "db_copy", Short: "Copy the database to another one, also of another engine",
		Long: `db_copy fills an empty database with all rows of another one, which is read as
of one moment, and proves by a checksum of each table that it has them. What
cannot be carried, or would mean something else there, is told before anything
is written. A copy that was cut short is gone on with by the same command; no
server starts on it until it is whole. The source has to be at the newest
schema (db_sync), and is not changed.

A connection is written as in [database] connection, or as @FILE: a file that
holds it, so that its password is in no list of processes.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case from == "" || to == "":
				return usageError{errors.New("--from and --to are needed"), cmd}
			case rows < 1 || rows > 100_000:
				return usageError{errors.New("--rows is a number from 1 to 100000"), cmd}
			}
			return p.copyDatabase(cmd.Context(), from, to, rows, dry)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`connection` to the database that is copied")
	cmd.Flags().StringVar(&to, "to", "", "`connection` to the database that is filled")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be copied and what is in the way; exit code 1: something is")
	cmd.Flags().IntVar(&rows, "rows", 1000, "how many `rows` go into one transaction at most")
	return cmd
}

// copyEnd is one database of the two.
type copyEnd struct {
	url, place string
	dialect    db.Dialect
}

// maxConnection is more than any connection has letters.
const maxConnection = 1 << 16

func newCopyEnd(flag, connection string) (copyEnd, error) {
	if file, ok := strings.CutPrefix(connection, "@"); ok {
		f, err := os.Open(file)
		if err != nil {
			return copyEnd{}, fmt.Errorf("--%s: %w", flag, err)
		}
		defer f.Close() //nolint:errcheck // it is read alone
		text, err := io.ReadAll(io.LimitReader(f, maxConnection))
		if err != nil {
			return copyEnd{}, fmt.Errorf("--%s: %w", flag, err)
		}
		connection = strings.TrimSpace(string(text))
	}
	dialect, place, err := db.Place(connection)
	if err != nil {
		return copyEnd{}, fmt.Errorf("--%s: %w", flag, err)
	}
	return copyEnd{connection, place, dialect}, nil
}

// open opens it. A SQLite file is made only where it may be.
func (e copyEnd) open(ctx context.Context, flag string) (db.DB, error) {
	d, err := db.Open(ctx, db.Config{URL: e.url, MaxPoolSize: 2})
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return d, nil
}

// missing tells that it is a SQLite file that is not there.
func (e copyEnd) missing() bool { return wire.DatabaseFile(e.place) != nil }

func (p *program) copyDatabase(ctx context.Context, fromURL, toURL string, rows int, dry bool) error {
	from, err := newCopyEnd("from", fromURL)
	if err != nil {
		return err
	}
	to, err := newCopyEnd("to", toURL)
	if err != nil {
		return err
	}
	switch {
	case from.place == to.place:
		return errors.New("--from and --to are the same database")
	case from.missing():
		return fmt.Errorf("--from: the database %s does not exist", from.place)
	}
	c := dbcopy.Copy{
		Into: to.dialect, Source: from.place, Rows: rows, Told: func(r *dbcopy.Report) { p.tellCopy(from, to, r) },
		Say: func(line string) { fmt.Fprintln(p.err, line) },
	}
	if c.From, err = from.open(ctx, "from"); err != nil {
		return err
	}
	defer c.From.Close()
	if !dry || !to.missing() {
		if c.To, err = to.open(ctx, "to"); err != nil {
			return err
		}
		defer c.To.Close()
	}
	if err := c.Run(ctx, dry); err != nil {
		return err
	}
	if dry {
		fmt.Fprintln(p.out, "\nNothing was written; the copy can be made.")
	} else {
		fmt.Fprintln(p.out, "\nThe copy is complete: every table has the rows and the checksum above.")
	}
	return nil
}

// tellCopy prints what was found in the source.
func (p *program) tellCopy(from, to copyEnd, r *dbcopy.Report) {
	fmt.Fprintf(p.out, "From %s\nto   %s\n\n%-34s %9s  CHECKSUM\n", from.place, to.place, "TABLE", "ROWS")
	for _, t := range r.Tables {
		sum := "-"
		if t.Sum.Rows > 0 {
			sum = t.Sum.String()
		}
		fmt.Fprintf(p.out, "%-34s %9d  %s\n", t.Table, t.Sum.Rows, sum)
	}
	for _, f := range r.Findings {
		level := "WARNING"
		if f.Refused {
			level = "REFUSED"
		}
		p.print(level, finding{fmt.Sprintf("%s (%d).", f.Title, f.Rows), f.Text})
		for _, item := range f.Items {
			fmt.Fprintf(p.out, "      %s\n", item)
		}
		if more := f.Rows - int64(len(f.Items)); more > 0 && len(f.Items) > 0 {
			fmt.Fprintf(p.out, "      and %d more\n", more)
		}
	}
}
