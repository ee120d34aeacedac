package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
)

// position is the content of alembic_version: the last revision of each branch.
type position struct {
	rows    map[string]bool
	present bool // the table exists
}

func (p *position) unknown() []string {
	var u []string
	for r := range p.rows {
		if !slices.ContainsFunc(all, func(s step) bool { return s.revision == r }) {
			u = append(u, r)
		}
	}
	slices.Sort(u)
	return u
}

// locate reads where a database stands, which must not be a copy in the making.
func locate(ctx context.Context, c db.Conn) (*position, error) {
	p, err := look(ctx, c)
	if err == nil && p.rows[unfinished] {
		return nil, ErrUnfinished
	}
	return p, err
}

// look reads where a database stands. Tables without a version are refused:
// they are of a release before Yoga, or no Keystone's.
func look(ctx context.Context, c db.Conn) (*position, error) {
	tables, err := AllTables(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read the schema version: %w", err)
	}
	p := &position{rows: map[string]bool{}, present: slices.Contains(tables, "alembic_version")}
	if p.present {
		rows, err := db.All(ctx, c, db.Query[string]{Text: `select version_num from alembic_version`, Scan: db.ScanText})
		if err != nil {
			return nil, fmt.Errorf("read the schema version: %w", err)
		}
		for _, r := range rows {
			p.rows[r] = true
		}
	}
	if len(p.rows) == 0 && slices.Contains(tables, "project") {
		return nil, errors.New("the database has tables but no schema version: it is of a release before Yoga, which Python Keystone has to upgrade first, or not Keystone's")
	}
	return p, nil
}

// done tells whether a step is in: it is a row, or comes before one.
func (p *position) done(s step) bool {
	if p.rows[s.revision] {
		return true
	}
	return slices.ContainsFunc(all, func(next step) bool { return next.parent == s.revision && p.done(next) })
}

// walk runs the missing steps of a branch and moves its row along, as alembic
// does.
func (p *position) walk(ctx context.Context, c db.Conn, b branch) error {
	for _, s := range chain(b) {
		if p.done(s) {
			continue
		}
		if err := p.run(ctx, c, s); err != nil {
			return fmt.Errorf("revision %s: %w", s.revision, err)
		}
		if err := p.move(ctx, c, s); err != nil {
			return fmt.Errorf("revision %s: %w", s.revision, err)
		}
	}
	return nil
}

// run runs the statements of one step.
func (p *position) run(ctx context.Context, c db.Conn, s step) error {
	if c.Dialect() == db.MariaDB {
		return p.runLoose(ctx, c, s)
	}
	for _, text := range s.statements(c.Dialect()) {
		if _, err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// move writes that a step is in. A row is updated, not replaced, so that two
// programs that migrate at once wait for each other.
func (p *position) move(ctx context.Context, c db.Conn, s step) error {
	if err := p.makeVersions(ctx, c); err != nil {
		return err
	}
	text, args := `insert into alembic_version (version_num) values ($1)`, []any{s.revision}
	if p.rows[s.parent] {
		text, args = `update alembic_version set version_num = $1 where version_num = $2`, []any{s.revision, s.parent}
	}
	n, err := c.Exec(ctx, text, args...)
	if err != nil {
		return err
	}
	if n != 1 {
		return errors.New("another program moves the schema version at the same time")
	}
	delete(p.rows, s.parent)
	p.rows[s.revision] = true
	return nil
}

// makeVersions makes the table of revisions unless it is there.
func (p *position) makeVersions(ctx context.Context, c db.Conn) error {
	if p.present {
		return nil
	}
	_, err := c.Exec(ctx, `create table alembic_version (
    version_num varchar(32) not null,
    constraint alembic_version_pkc primary key (version_num)
)`)
	p.present = p.present || err == nil
	return err
}
