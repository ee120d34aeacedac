// Package migrations makes and upgrades the schema of a Keystone database. The
// schema, and the two rows that say where a database stands, are Python
// Keystone's from Zed on, so that either program takes over what the other
// made.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/internal/db"
)

//go:embed sql/*.sql
var files embed.FS

// branch is one of the two lines that a rolling upgrade walks apart: expand
// adds before the first new process starts, contract removes after the last
// old one has stopped.
type branch string

const (
	trunk    branch = ""
	expand   branch = "expand"
	contract branch = "contract"
)

// step is one alembic revision.
type step struct {
	branch   branch
	revision string
	parent   string // "" for the first
	lines    []string
}

// all is every step, in the order of the files.
var all = mustRead()

// words are the types that engines call differently.
var words = map[db.Dialect]*strings.Replacer{
	db.Postgres: strings.NewReplacer(":serial", "serial", ":timestamp", "timestamp", ":assignment_type", "type", ":entity_type", "entity_type"),
	db.SQLite:   strings.NewReplacer(":serial", "integer", ":timestamp", "datetime", ":assignment_type", "varchar(12)", ":entity_type", "varchar(5)"),
	db.MariaDB: strings.NewReplacer(":serial", "integer auto_increment", ":timestamp", "datetime",
		":assignment_type", "enum('UserProject', 'GroupProject', 'UserDomain', 'GroupDomain')", ":entity_type", "enum('user', 'group')"),
}

// mustRead reads the embedded files, one a release. In them
//
//	-- step expand REVISION after PARENT
//
// begins a step (the very first has neither branch nor parent), and
//
//	-- on postgres | sqlite | mariadb | all
//
// says which engines the following lines are for.
func mustRead() []step {
	var steps []step
	names, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		steps = readSteps(steps, string(text))
	}
	return steps
}

// readSteps adds the steps of a file.
func readSteps(steps []step, text string) []step {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutPrefix(line, "-- step "); ok {
			steps = append(steps, parseHead(head))
		} else if len(steps) > 0 {
			last := &steps[len(steps)-1]
			last.lines = append(last.lines, line)
		}
	}
	return steps
}

func parseHead(head string) step {
	f := strings.Fields(head)
	switch {
	case len(f) == 1:
		return step{revision: f[0]}
	case len(f) == 4 && f[2] == "after":
		return step{branch: branch(f[0]), revision: f[1], parent: f[3]}
	}
	panic(fmt.Sprintf("migrations: no step: %q", head))
}

// statements gives what an engine has to run for the step.
func (s step) statements(on db.Dialect) []string {
	var out []string
	var b strings.Builder
	engines, body := "all", false
	for _, line := range s.lines {
		if name, ok := strings.CutPrefix(line, "-- on "); ok {
			engines = name
			continue
		}
		if strings.HasPrefix(line, "--") || (engines != "all" && !slices.Contains(strings.Fields(engines), string(on))) {
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
		if strings.Count(line, "$$")%2 == 1 {
			body = !body
		}
		if !body && strings.HasSuffix(line, ";") {
			out = append(out, withLetters(on, words[on].Replace(strings.TrimSuffix(strings.TrimSpace(b.String()), ";"))))
			b.Reset()
		}
	}
	return out
}

// withLetters has MariaDB make a table with the letters and the order of them
// that Python's tables have, whatever the database's own are.
func withLetters(on db.Dialect, text string) string {
	if on == db.MariaDB && strings.HasPrefix(text, "create table ") && !strings.Contains(text, " charset=") {
		text += " engine=InnoDB default charset=utf8"
	}
	return text
}

// Digest changes when any step does.
func Digest() string {
	h := sha256.New()
	for _, s := range all {
		_, _ = fmt.Fprintln(h, s.branch, s.revision, s.parent, strings.Join(s.lines, "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// head is the last revision of a branch.
func head(b branch) string {
	last := ""
	for _, s := range all {
		if s.branch == b {
			last = s.revision
		}
	}
	return last
}

// chain is the way to the head of a branch, from the first step on.
func chain(b branch) []step {
	var c []step
	for _, s := range all {
		if s.branch == trunk || s.branch == b {
			c = append(c, s)
		}
	}
	return c
}
