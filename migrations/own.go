package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Own is a part of the schema that Python Keystone does not know: tables that
// begin with keystone_go_, made only where the configuration asks for them, and
// counted in a version table of their own. Python's schema and its two version
// rows are as without.
type Own string

// RateLimit are the tables of [rate_limit] store = sql.
const RateLimit Own = "rate_limit"

//go:embed own/*.sql
var ownFiles embed.FS

// ownSteps are the steps of a part, in order.
func ownSteps(part Own) []step {
	text, err := ownFiles.ReadFile("own/" + string(part) + ".sql")
	if err != nil {
		panic(err)
	}
	return readSteps(nil, string(text))
}

const ownVersions = `create table keystone_go_version (
    step varchar(64) not null,
    constraint keystone_go_version_pkey primary key (step)
)`

// SyncOwn makes the tables of a part, or brings them up to date.
func SyncOwn(ctx context.Context, d db.DB, part Own) error {
	err := db.Alter(ctx, d, func(c db.Conn) error {
		done, present, err := ownDone(ctx, c)
		if err != nil {
			return err
		}
		for _, s := range ownSteps(part) {
			if slices.Contains(done, s.revision) {
				continue
			}
			statements := s.statements(c.Dialect())
			if !present {
				statements, present = append([]string{withLetters(c.Dialect(), ownVersions)}, statements...), true
			}
			for _, text := range statements {
				if _, err := c.Exec(ctx, text); err != nil && !errors.Is(err, db.ErrAltered) {
					return fmt.Errorf("step %s: %w", s.revision, err)
				}
			}
			if _, err := c.Exec(ctx, `insert into keystone_go_version (step) values ($1)`, s.revision); err != nil {
				return fmt.Errorf("step %s: %w", s.revision, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate the tables of %s: %w", part, err)
	}
	return nil
}

// VerifyOwn is ErrBehind unless a part's tables are up to date.
func VerifyOwn(ctx context.Context, c db.Conn, part Own) error {
	done, _, err := ownDone(ctx, c)
	if err != nil {
		return err
	}
	for _, s := range ownSteps(part) {
		if !slices.Contains(done, s.revision) {
			return ErrBehind
		}
	}
	return nil
}

// ownDone lists the steps that are in, and tells whether there is a table of
// them.
func ownDone(ctx context.Context, c db.Conn) (done []string, present bool, err error) {
	tables, err := AllTables(ctx, c)
	if err != nil || !slices.Contains(tables, "keystone_go_version") {
		return nil, false, err
	}
	done, err = db.All(ctx, c, db.Query[string]{Text: `select step from keystone_go_version`, Scan: db.ScanText})
	return done, true, err
}
