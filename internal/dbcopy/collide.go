package dbcopy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/keystone-go/keystone-go/internal/db"
)

// collisions finds rows that MariaDB takes for the same: unique keys that differ
// in case, accents or trailing blanks alone. It holds sixteen bytes a key.
type collisions struct {
	seen  []map[[16]byte]bool // by unique key; true: more than one row has it
	found bool
}

// newCollisions gives nil where nothing is to be looked for.
func (i *inspector) newCollisions(t table) *collisions {
	if i.to != db.MariaDB {
		return nil
	}
	c := &collisions{}
	for range t.unique {
		c.seen = append(c.seen, map[[16]byte]bool{})
	}
	return c
}

// add looks at a row.
func (c *collisions) add(t table, r row) {
	for n, names := range t.unique {
		key, ok := t.folded(names, r)
		if !ok {
			continue
		}
		if _, there := c.seen[n][key]; there {
			c.seen[n][key], c.found = true, true
			continue
		}
		c.seen[n][key] = false
	}
}

// tell reads the table again for the names of those that were found.
func (c *collisions) tell(ctx context.Context, from db.Conn, t table, into *findings) error {
	if c == nil || !c.found {
		return nil
	}
	return t.each(ctx, from, true, func(r row) error {
		for n, names := range t.unique {
			key, ok := t.folded(names, r)
			if !ok || !c.seen[n][key] {
				continue
			}
			item := ""
			for _, at := range t.at(names) {
				item += fmt.Sprintf(", %s %.80q", t.columns[at].name, written(r[at]))
			}
			into.note(maxItems, Finding{
				Refused: true,
				Title:   fmt.Sprintf("%s has rows whose %s differ in case, accents or trailing blanks alone", t.name, strings.Join(names, ", ")),
				Text:    "MariaDB takes them for the same and holds one of them only. Rename or delete the others first.",
			}, strings.TrimPrefix(item, ", "))
		}
		return nil
	})
}

// folded is a key as MariaDB compares it. A key with a null is like no other,
// and a table of secrets has no names to tell.
func (t table) folded(names []string, r row) (key [16]byte, ok bool) {
	h := sha256.New()
	for _, at := range t.at(names) {
		if r[at] == nil {
			return key, false
		}
		_, _ = fmt.Fprintf(h, "%q", fold(written(r[at])))
	}
	copy(key[:], h.Sum(nil))
	return key, !unnamed[t.name]
}

// fold writes a text so that those which utf8mb3_general_ci takes for the same
// are the same: letters without case, those of Latin, Greek and Cyrillic without
// accents too, no blanks at the end. It takes a few more for the same, which have
// got another case since that order was made.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToUpper(r)
		}
		switch r {
		case 'ß':
			return 'S'
		case 'ϲ':
			return 'Σ'
		case 'й', 'Й':
			return 'Й'
		}
		base, _ := utf8.DecodeRune(norm.NFD.AppendString(nil, string(r)))
		if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			r = base
		}
		return unicode.ToUpper(r)
	}, strings.TrimRight(s, " "))
}
