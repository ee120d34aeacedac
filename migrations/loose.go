package migrations

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/keystone-go/keystone-go/internal/db"
)

// runLoose runs a step where each change of the schema is committed by itself.
// One that was cut short is run again, so what is there or gone already is passed
// over; the first step, which makes all tables, takes them back when it fails,
// since tables without a version are nobody's.
func (p *position) runLoose(ctx context.Context, c db.Conn, s step) error {
	if s.branch != trunk {
		for _, text := range s.statements(c.Dialect()) {
			if _, err := c.Exec(ctx, text); err != nil && !errors.Is(err, db.ErrAltered) {
				return err
			}
		}
		return nil
	}
	// As with alembic, the table of revisions is older than the letters that the
	// first step gives the database.
	var made []string
	if !p.present {
		if err := p.makeVersions(ctx, c); err != nil {
			return err
		}
		made = append(made, "alembic_version")
	}
	for _, text := range s.statements(c.Dialect()) {
		if _, err := c.Exec(ctx, text); err != nil {
			return errors.Join(err, p.takeBack(context.WithoutCancel(ctx), c, made))
		}
		if m := tableMade.FindStringSubmatch(text); m != nil {
			made = append(made, m[1])
		}
	}
	return nil
}

var tableMade = regexp.MustCompile(`^create table "?(\w+)"?`)

// takeBack drops tables, the last one first, since it may refer to others.
func (p *position) takeBack(ctx context.Context, c db.Conn, tables []string) error {
	for _, name := range slices.Backward(tables) {
		if _, err := c.Exec(ctx, `drop table "`+name+`"`); err != nil {
			return err
		}
	}
	return nil
}
