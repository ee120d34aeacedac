package db_test

import (
	"errors"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestLetters is what each engine makes of letters: whether a stored name is
// found by another way to write it, and is in the way of another row with that
// name. MariaDB's answers are those of the tables that Python Keystone makes
// there (utf8mb3_general_ci); it keeps a name as it was written.
func TestLetters(t *testing.T) {
	type answer struct {
		same bool // found by the other, and in its way
		bad  bool // the other cannot be stored, nor looked for
	}
	for _, c := range []struct {
		what, stored, other string
		want                map[db.Dialect]answer
	}{
		{"the same", "Ada", "Ada", map[db.Dialect]answer{db.SQLite: {same: true}, db.Postgres: {same: true}, db.MariaDB: {same: true}}},
		{"case", "Ada", "aDA", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"case beyond ASCII", "Émile Ñandú", "émile ñandú", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"accents", "Rene Muller", "René Müller", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"composed and decomposed", "Ren\u00e9", "Rene\u0301", nil},
		{"a sharp s is one s", "strase", "stra\u00dfe", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"a ligature", "ae", "\u00e6", nil},
		{"a dotless i", "i", "\u0131", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"case of Greek", "\u03a3\u03af", "\u03c3\u03b9", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"case of Cyrillic", "Иван", "иВАН", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"a blank behind", "ada", "ada ", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"blanks behind", "ada", "ada    ", map[db.Dialect]answer{db.MariaDB: {same: true}}},
		{"a tab behind", "ada", "ada\t", nil},
		{"a blank before", "ada", " ada", nil},
		{"a wide letter", "a", "\uff41", nil},
		{"signs", "a-b", "a_b", nil},
		{"plane 1", "ada", "ada\U0001f642", map[db.Dialect]answer{db.MariaDB: {bad: true}}},
	} {
		dbtest.Each(t, func(t *testing.T, d db.DB) {
			want := c.want[d.Dialect()]
			exec(t, d, `insert into role (id, name, domain_id, extra) values ($1, $2, $3, $4)`, "1", c.stored, "d", "{}")
			found, err := db.All(t.Context(), d, value[string](`select name from role where name = $1`, c.other))
			if errors.Is(err, db.ErrBadValue) != want.bad || err != nil && !want.bad {
				t.Errorf("%s: looked for %q: %v", c.what, c.other, err)
			}
			if (len(found) == 1) != want.same || want.same && found[0] != c.stored {
				t.Errorf("%s: looked for %q, found %q, stored %q", c.what, c.other, found, c.stored)
			}
			_, err = d.Exec(t.Context(), `insert into role (id, name, domain_id, extra) values ($1, $2, $3, $4)`, "2", c.other, "d", "{}")
			if errors.Is(err, db.ErrDuplicate) != want.same || errors.Is(err, db.ErrBadValue) != want.bad || (err != nil) != (want.same || want.bad) {
				t.Errorf("%s: stored %q beside %q: %v", c.what, c.other, c.stored, err)
			}
		})
	}
}
