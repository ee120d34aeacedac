package dbcopy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/migrations"
)

// inspector reads the whole source once, for what cannot be carried or would
// mean something else, and for the checksums.
type inspector struct {
	from, to db.Dialect
	findings findings
	// done are the rows that an earlier run has copied of a table; stale tells
	// that the source's are others by now.
	done  map[string]Sum
	stale bool
}

// coarse tells whether times lose their fractions.
func (i *inspector) coarse() bool { return i.to == db.MariaDB }

func (i *inspector) inspect(ctx context.Context, c db.Conn) (*Report, error) {
	r := &Report{}
	if err := i.others(ctx, c); err != nil {
		return nil, err
	}
	for _, t := range tables {
		sum, err := i.table(ctx, c, t)
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, Count{t.name, sum})
		if err := i.broken(ctx, c, t); err != nil {
			return nil, err
		}
	}
	for _, f := range i.findings.list {
		r.Findings = append(r.Findings, *f)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		switch {
		case a.Refused == b.Refused:
			return 0
		case a.Refused:
			return -1
		}
		return 1
	})
	return r, nil
}

// others tells of tables that stay behind.
func (i *inspector) others(ctx context.Context, c db.Conn) error {
	names, err := migrations.AllTables(ctx, c)
	if err != nil {
		return fmt.Errorf("list the tables: %w", err)
	}
	for _, n := range names {
		switch {
		case n == versions || slices.ContainsFunc(tables, func(t table) bool { return t.name == n }):
		case strings.HasPrefix(n, "keystone_go_"):
			i.findings.note(maxItems, Finding{
				Title: "Tables of keystone-go's own are not copied",
				Text:  "They hold what clients owe to rate limits, which begins anew. db_sync makes those that the configuration asks for.",
			}, n)
		default:
			i.findings.note(maxItems, Finding{Title: "Tables that are not Keystone's are not copied"}, n)
		}
	}
	return nil
}

// table reads one table.
func (i *inspector) table(ctx context.Context, c db.Conn, t table) (Sum, error) {
	var sum Sum
	done := i.done[t.name]
	seen := i.newCollisions(t)
	err := t.each(ctx, c, false, func(r row) error {
		i.values(t, r)
		i.names(t, r)
		if i.coarse() {
			i.fractions(t, r)
			r.truncate()
			seen.add(t, r)
		}
		if sum.add(r); sum.Rows == done.Rows && sum != done {
			i.stale = true
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	i.stale = i.stale || sum.Rows < done.Rows
	return sum, seen.tell(ctx, c, t, &i.findings)
}

// values looks at what does not fit into the target's columns.
func (i *inspector) values(t table, r row) {
	for n, c := range t.columns {
		refuse := func(format string, args ...any) {
			i.findings.note(maxItems, Finding{Refused: true, Title: t.name + "." + c.name + " " + fmt.Sprintf(format, args...)}, t.naming(r))
		}
		switch v := r[n].(type) {
		case int64:
			if c.length == 32 && (v > math.MaxInt32 || v < math.MinInt32) {
				refuse("has numbers beyond 32 bits")
			}
		case time.Time:
			if v.Year() < 1000 || v.Year() > 9999 {
				refuse("has times that are no dates of this age")
			}
		case string:
			if c.length > 0 && utf8.RuneCountInString(v) > c.length {
				refuse("has values of more than %d letters", c.length)
			}
			if strings.IndexByte(v, 0) >= 0 || !utf8.ValidString(v) {
				refuse("has text with a NUL, or that is no UTF-8")
			}
			if of, ok := choices[t.name+"."+c.name]; ok && i.to != db.SQLite && !slices.Contains(of, v) {
				refuse("has values other than %s", strings.Join(of, ", "))
			}
			if i.to != db.MariaDB {
				continue
			}
			if c.length == 0 && len(v) > math.MaxUint16 {
				refuse("has texts of more than 65535 bytes, which MariaDB's columns do not hold")
			}
			if strings.IndexFunc(v, func(r rune) bool { return r > 0xffff }) >= 0 {
				refuse("has letters of four bytes, such as emoji, which MariaDB's columns do not hold")
			}
		}
	}
	i.hashes(t, r)
}

// choices are columns that are enumerations on Postgres and MariaDB.
var choices = map[string][]string{
	"assignment.type":        {"UserProject", "GroupProject", "UserDomain", "GroupDomain"},
	"id_mapping.entity_type": {"user", "group"},
}

// hashed are the columns with hashes of secrets, and what names their owner.
var hashed = map[string][2]string{
	"password":               {"password_hash", "local_user_id"},
	"application_credential": {"secret_hash", "id"},
}

// hashes looks for what nobody can read any more; an empty one is of a user
// whose password was taken away.
func (i *inspector) hashes(t table, r row) {
	at, ok := hashed[t.name]
	if !ok {
		return
	}
	places := t.at(at[:])
	if hash, ok := r[places[0]].(string); ok && hash != "" && !passhash.Readable(hash) {
		i.findings.note(maxItems, Finding{
			Title: t.name + "." + at[0] + " has hashes of schemes that are no longer read",
			Text:  "They are copied as they are. Nobody can log in with them, before or after; a new password mends it.",
		}, at[1]+" "+written(r[places[1]]))
	}
}

// maxNames is how many names with capitals are printed.
const maxNames = 1000

// named are the tables with names by which things are asked for, and what such
// names are of.
var named = map[string]string{"local_user": "users", "nonlocal_user": "users", "group": "groups", "project": "projects and domains", "role": "roles"}

// names tells which names change their meaning where letters in another case
// are other letters.
func (i *inspector) names(t table, r row) {
	what, ok := named[t.name]
	if !ok || i.from != db.MariaDB || i.to == db.MariaDB {
		return
	}
	name := written(r[t.at([]string{"name"})[0]])
	if strings.IndexFunc(name, unicode.IsUpper) < 0 {
		return
	}
	i.findings.note(maxNames, Finding{
		Title: "Names of " + what + " with capitals have to be written exactly so from now on",
		Text:  "MariaDB takes letters in another case, with other accents, and trailing blanks for the same; the target does not. Logins that write one of these names differently stop working.",
	},
		fmt.Sprintf("%q", name))
}

// fractions counts times that lose them.
func (i *inspector) fractions(t table, r row) {
	for n, c := range t.columns {
		if at, ok := r[n].(time.Time); ok && at.Nanosecond() > 0 {
			i.findings.note(0, Finding{
				Title: t.name + "." + c.name + " loses fractions of seconds",
				Text:  "MariaDB's columns hold whole seconds, as Python Keystone makes them.",
			}, "")
		}
	}
}

// broken looks for rows that refer to what is not there, which the target would
// not take.
func (i *inspector) broken(ctx context.Context, c db.Conn, t table) error {
	for _, l := range t.links {
		if l.only != "" && l.only != i.to {
			continue
		}
		var set, same []string
		for n, name := range l.columns {
			set = append(set, "x."+quoted(name)+" is not null")
			same = append(same, "y."+quoted(l.keys[n])+" = x."+quoted(name))
			if c.Dialect() == db.MariaDB && i.to != db.MariaDB {
				same = append(same, "binary y."+quoted(l.keys[n])+" = binary x."+quoted(name)) // in another case it is another elsewhere
			}
		}
		n, err := db.One(ctx, c, db.Query[int64]{
			Text: fmt.Sprintf(`select count(*) from %s x where %s and not exists (select 1 from %s y where %s)`,
				quoted(t.name), strings.Join(set, " and "), quoted(l.to), strings.Join(same, " and ")),
			Scan: func(r db.Row) (n int64, err error) { err = r.Scan(&n); return n, err },
		})
		if err != nil {
			return fmt.Errorf("follow the references of %s: %w", t.name, err)
		}
		if n > 0 {
			i.findings.note(0, Finding{
				Refused: true, Rows: n - 1,
				Title: fmt.Sprintf("%s.%s names rows of %s that are not there", t.name, strings.Join(l.columns, ", "), l.to),
			}, "")
		}
	}
	return nil
}
