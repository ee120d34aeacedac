// Package dbcopy moves a Keystone database to another one, of any engine: all
// rows or none, with checksums that are the same on every engine.
package dbcopy

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

// The schema at head in the words that all engines share, a copy of the golden
// in test/testdata/schema.
//
//go:embed tables.txt
var schema string

// kind is what a column holds, whatever the engine calls it.
type kind int

const (
	text kind = iota
	integer
	boolean
	stamp
	day
)

type column struct {
	name   string
	kind   kind
	length int // letters of a varchar, 0: no limit; of an integer: bits
	auto   bool
}

// link is a foreign key.
type link struct {
	columns []string
	to      string
	keys    []string
	only    db.Dialect // the engine that has it, "" for all
}

type table struct {
	name    string
	columns []column
	key     []string
	unique  [][]string // the key too
	links   []link
}

// tables are all that is copied, each behind those that it refers to.
var tables = ordered(parse(schema))

// versions is the table of revisions, which the migrations write.
const versions = "alembic_version"

var (
	columnForm = regexp.MustCompile(`^(\w+) (varchar|text|integer|bigint|boolean|timestamp|date)(?:\((\d+)\))?( not null)?( auto)?( default '.*')?$`)
	keyForm    = regexp.MustCompile(`^(primary key|unique) \((.*)\)$`)
	linkForm   = regexp.MustCompile(`^foreign key \((.*?)\) references (\w+) \((.*?)\)[a-z ]*(?: -- (\w+))?$`)
)

// parse reads the schema, and panics where it cannot: the text is our own.
func parse(schema string) []table {
	var list []table
	for line := range strings.Lines(schema) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "table "); ok {
			list = append(list, table{name: name})
			continue
		}
		list[len(list)-1].read(strings.TrimSpace(line))
	}
	return slices.DeleteFunc(list, func(t table) bool { return t.name == versions })
}

// read adds a line about the table.
func (t *table) read(line string) {
	names := func(s string) []string { return strings.Split(s, ", ") }
	if m := keyForm.FindStringSubmatch(line); m != nil {
		t.unique = append(t.unique, names(m[2]))
		if m[1] == "primary key" {
			t.key = names(m[2])
		}
	} else if m := linkForm.FindStringSubmatch(line); m != nil {
		t.links = append(t.links, link{names(m[1]), m[2], names(m[3]), db.Dialect(m[4])})
	} else if m := columnForm.FindStringSubmatch(line); m != nil {
		c := column{name: m[1], auto: m[5] != ""}
		c.kind, c.length = kindOf(m[2], m[3])
		t.columns = append(t.columns, c)
	} else if !strings.HasPrefix(line, "index ") {
		panic(fmt.Sprintf("dbcopy: no line of a schema: %q", line))
	}
}

func kindOf(name, length string) (kind, int) {
	switch name {
	case "integer":
		return integer, 32
	case "bigint":
		return integer, 64
	case "boolean":
		return boolean, 0
	case "timestamp":
		return stamp, 0
	case "date":
		return day, 0
	}
	n, _ := strconv.Atoi(length) // "" is 0
	return text, n
}

// ordered puts tables behind those that they refer to.
func ordered(list []table) []table {
	var out []table
	in := func(name string) bool { return slices.ContainsFunc(out, func(t table) bool { return t.name == name }) }
	for len(out) < len(list) {
		before := len(out)
		for _, t := range list {
			waits := slices.ContainsFunc(t.links, func(l link) bool { return l.to != t.name && !in(l.to) })
			if !waits && !in(t.name) {
				out = append(out, t)
			}
		}
		if len(out) == before {
			panic("dbcopy: tables refer to one another")
		}
	}
	return out
}

func quoted(names ...string) string { return `"` + strings.Join(names, `", "`) + `"` }

func (t table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// at gives the places of columns.
func (t table) at(names []string) []int {
	places := make([]int, len(names))
	for i, n := range names {
		places[i] = slices.Index(t.names(), n)
	}
	return places
}

// projects refer to one another: the hidden root to itself, domains to it, all
// others to their domain and, by parent_id, to any project. So they come in that
// order, and with a parent in a second round.
const projects = "project"

// selection reads a table, in an order that is the same each time.
func (t table) selection() string {
	order := quoted(t.key...)
	if t.name == projects {
		order = `case when domain_id = id then 0 when domain_id = '<<keystone.domain.root>>' then 1 else 2 end, ` + order
	}
	return `select ` + quoted(t.names()...) + ` from ` + quoted(t.name) + ` order by ` + order
}

// insertion writes so many rows at once.
func (t table) insertion(rows int) string {
	var b strings.Builder
	b.WriteString(`insert into ` + quoted(t.name) + ` (` + quoted(t.names()...) + `) values `)
	for n := range rows * len(t.columns) {
		switch {
		case n == 0:
			b.WriteByte('(')
		case n%len(t.columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(n+1))
	}
	b.WriteByte(')')
	return b.String()
}
