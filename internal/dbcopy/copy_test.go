package dbcopy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

// trial is a copy between databases of a test.
type trial struct {
	Copy
	report *Report
	said   []string
}

func newTrial(from, to db.DB) *trial {
	x := &trial{Copy: Copy{From: from, To: to, Into: to.Dialect(), Source: "the source", Rows: 7}}
	x.Told = func(r *Report) { x.report = r }
	x.Say = func(line string) { x.said = append(x.said, line) }
	return x
}

func (x *trial) must(t *testing.T) {
	t.Helper()
	if err := x.Run(t.Context(), false); err != nil {
		t.Fatalf("copy: %v\n%+v", err, x.report)
	}
}

// found gives the findings as lines.
func (x *trial) found() string {
	var b strings.Builder
	for _, f := range x.report.Findings {
		fmt.Fprintf(&b, "refused %v: %s (%d): %s\n", f.Refused, f.Title, f.Rows, strings.Join(f.Items, "; "))
	}
	return b.String()
}

func empty(t *testing.T, engine string) db.DB {
	t.Helper()
	return dbtest.Connect(t, db.Config{URL: dbtest.EmptyURL(t, engine)})
}

// sums gives the checksum of every table, with times as the engine in question
// holds them.
func sums(t *testing.T, d db.DB, of string) []string {
	t.Helper()
	var list []string
	for _, table := range tables {
		var sum Sum
		if err := table.each(t.Context(), d, of == string(db.MariaDB), func(r row) error { sum.add(r); return nil }); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %d %s", table.name, sum.Rows, sum))
	}
	return list
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
}

func count(t *testing.T, d db.Conn, text string, args ...any) int64 {
	t.Helper()
	n, err := db.One(t.Context(), d, db.Query[int64]{Text: text, Args: args, Scan: func(r db.Row) (n int64, err error) { err = r.Scan(&n); return n, err }})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// odd rows: what values there may be.
func odd(t *testing.T, d db.DB) {
	t.Helper()
	name, words := "😀 Żółć  ", 30_000
	if d.Dialect() == db.MariaDB {
		name, words = "Żółć  ", 13_000
	}
	const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	exec(t, d, `insert into "user" (id, domain_id, extra, enabled) values ($1, 'default', null, null)`, hex64)
	exec(t, d, `insert into "user" (id, domain_id, extra, enabled) values ('not a uuid; ''quoted'' \ ', 'default', $1, $2)`, `{"email": "a\u0041\n", "x": [null, 1.50, {"y": ""}]}`, false)
	exec(t, d, `insert into local_user (user_id, domain_id, name) values ($1, 'default', $2)`, hex64, name)
	exec(t, d, `insert into project (id, name, domain_id, parent_id, is_domain, enabled, description) values ('zparent', 'p', 'default', 'default', $1, $2, $3)`, false, true, strings.Repeat("long ", words))
	exec(t, d, `insert into project (id, name, domain_id, parent_id, is_domain, enabled) values ('0child', 'c', 'default', 'zparent', $1, null)`, false)
	exec(t, d, `insert into revocation_event (issued_before, revoked_at, audit_id) select min(created_at), max(created_at), 'a' from "user"`)
}

// TestRoundTrip: the recorded database of Python Keystone, and odd rows, go
// through every engine and come back as they were.
func TestRoundTrip(t *testing.T) {
	for _, way := range [][]string{{"postgres", "sqlite", "postgres"}, {"mariadb", "postgres", "sqlite", "mariadb"}} {
		t.Run(strings.Join(way, " "), func(t *testing.T) {
			at := dbtest.OpenRecorded(t, way[0])
			odd(t, at)
			want := sums(t, at, "")
			for _, engine := range way[1:] {
				to := empty(t, engine)
				x := newTrial(at, to)
				x.must(t)
				if diff := cmp.Diff(want, sums(t, to, "")); diff != "" {
					t.Fatalf("to %s: -want +got\n%s", engine, diff)
				}
				if x.report.Refused() || len(x.report.Tables) != len(tables) {
					t.Errorf("to %s: the report is %+v", engine, x.report)
				}
				ordinary(t, to)
				at = to
			}
		})
	}
}

// ordinary wants a database that is as if db_sync had made it.
func ordinary(t *testing.T, d db.DB) {
	t.Helper()
	engine := string(d.Dialect())
	if code, err := migrations.Check(t.Context(), d); code != migrations.UpToDate || err != nil {
		t.Errorf("to %s: the schema is %d, %v", engine, code, err)
	}
	if diff := cmp.Diff(dbtest.Schema(t, dbtest.Open(t, engine)), dbtest.Schema(t, d)); diff != "" {
		t.Errorf("to %s: the schema is not db_sync's: -want +got\n%s", engine, diff)
	}
	// A number given anew is behind all that were copied.
	last := count(t, d, `select max(id) from password`)
	exec(t, d, `insert into password (local_user_id, created_at, created_at_int) select min(local_user_id), min(created_at), 0 from password`)
	if now := count(t, d, `select max(id) from password`); now != last+1 {
		t.Errorf("to %s: the next password has number %d, want %d", engine, now, last+1)
	}
	exec(t, d, `delete from password where id > $1`, last)
}

// TestSumsTellRowsApart: a value, a null and where a value stands count.
func TestSumsTellRowsApart(t *testing.T) {
	of := func(rows ...row) string {
		var s Sum
		for _, r := range rows {
			s.add(r)
		}
		return fmt.Sprint(s.Rows, s)
	}
	seen := map[string]int{}
	for i, rows := range [][]row{
		{}, {{""}}, {{nil}}, {{"a", ""}}, {{"", "a"}}, {{"a", nil}}, {{nil, "a"}}, {{"a"}, {"b"}}, {{"a"}, {"a"}}, {{"b"}, {"b"}}, {{"a"}, {"a"}, {"a"}}, {{true}}, {{false}}, {{int64(1)}},
	} {
		s := of(rows...)
		if other, ok := seen[s]; ok {
			t.Errorf("%d and %d have one sum", i, other)
		}
		seen[s] = i
	}
	if of(row{"a"}, row{"b"}) != of(row{"b"}, row{"a"}) {
		t.Error("the order counts")
	}
	var s Sum
	s.add(row{"x"})
	if back, err := readSum(1, s.String()); err != nil || back != s {
		t.Errorf("read back: %v, %v", back, err)
	}
}

// TestTargets: only an empty database is filled, and only its own copy is gone
// on with.
func TestTargets(t *testing.T) {
	from := dbtest.OpenRecorded(t, "sqlite")
	dbtest.Each(t, func(t *testing.T, synced db.DB) {
		// As db_sync has left it.
		newTrial(from, synced).must(t)
		if err := newTrial(from, synced).Run(t.Context(), false); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("a full target: %v", err)
		}
		old := empty(t, string(synced.Dialect()))
		if err := migrations.Expand(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		if err := newTrial(from, old).Run(t.Context(), false); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("a target that is not at head: %v", err)
		}
		if err := newTrial(old, empty(t, "sqlite")).Run(t.Context(), false); !errors.Is(err, ErrNotHead) {
			t.Errorf("a source that is not at head: %v", err)
		}
		strange := empty(t, string(synced.Dialect()))
		exec(t, strange, `create table project (id integer)`)
		if err := newTrial(from, strange).Run(t.Context(), false); err == nil || count(t, strange, `select count(*) from project`) != 0 {
			t.Errorf("a target with tables of somebody: %v", err)
		}
		begun := empty(t, string(synced.Dialect()))
		interrupt(t, newTrial(from, begun), 5)
		other := newTrial(from, begun)
		other.Source = "another source"
		if err := other.Run(t.Context(), false); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "the source") {
			t.Errorf("the copy of another source: %v", err)
		}
		if err := newTrial(begun, empty(t, "sqlite")).Run(t.Context(), false); !errors.Is(err, migrations.ErrUnfinished) {
			t.Errorf("an unfinished copy as the source: %v", err)
		}
		newTrial(from, begun).must(t)
	})
}

// interrupt ends a copy after so many lines.
func interrupt(t *testing.T, x *trial, lines int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	say := x.Say
	x.Say = func(line string) {
		say(line)
		if len(x.said) == lines {
			cancel()
		}
	}
	if err := x.Run(ctx, false); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted copy: %v after %q", err, x.said)
	}
	if _, err := migrations.Version(t.Context(), x.To); !errors.Is(err, migrations.ErrUnfinished) {
		t.Errorf("after an interruption: %v", err)
	}
	for what, do := range map[string]func() error{
		"db_sync":          func() error { return migrations.Sync(t.Context(), x.To) },
		"db_sync --expand": func() error { return migrations.Expand(t.Context(), x.To) },
		"the server":       func() error { return migrations.Verify(t.Context(), x.To, true) },
		"db_sync --check":  func() error { _, err := migrations.Check(t.Context(), x.To); return err },
	} {
		if err := do(); !errors.Is(err, migrations.ErrUnfinished) {
			t.Errorf("%s on an unfinished copy: %v", what, err)
		}
	}
}

// TestInterrupted: wherever a copy stops, it is gone on with, and nothing that
// is in is copied twice.
func TestInterrupted(t *testing.T) {
	from := dbtest.OpenRecorded(t, "postgres")
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			want, to := sums(t, from, engine), empty(t, engine)
			lines := 0
			for n := range 12 {
				x := newTrial(from, to)
				x.Rows = 1 + n
				interrupt(t, x, 4)
				if n > 0 && x.said[0] != "The copy goes on where it stopped." {
					t.Errorf("run %d began with %q", n, x.said[0])
				}
				lines += len(x.said)
			}
			x := newTrial(from, to)
			x.must(t)
			if diff := cmp.Diff(want, sums(t, to, engine)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if again := len(x.said) + lines; again > 80 {
				t.Errorf("%d lines were said: tables were copied again", again)
			}
		})
	}
}

// TestSourceChanges between two runs: behind what was copied the new rows are
// taken along; before it the copy begins anew.
func TestSourceChanges(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			from, to := dbtest.OpenRecorded(t, "sqlite"), empty(t, engine)
			interrupt(t, newTrial(from, to), 6)
			exec(t, from, `insert into system_assignment (type, actor_id, target_id, role_id, inherited) values ('UserSystem', 'late', 'system', 'r', $1)`, false)
			interrupt(t, newTrial(from, to), 6)
			first := tables[0].name
			exec(t, from, `delete from `+quoted(first))
			x := newTrial(from, to)
			x.must(t)
			if !strings.Contains(strings.Join(x.said, "\n"), "begins anew") {
				t.Errorf("said: %q", x.said)
			}
			if diff := cmp.Diff(sums(t, from, engine), sums(t, to, engine)); diff != "" {
				t.Errorf("-source +target\n%s", diff)
			}
		})
	}
}

// TestTwoAtOnce: of two that fill one target one goes on at most, and it comes
// out whole.
func TestTwoAtOnce(t *testing.T) {
	from := dbtest.OpenRecorded(t, "postgres")
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			to := empty(t, engine)
			interrupt(t, newTrial(from, to), 3)
			other := newTrial(from, to)
			var err error
			other.Say = func(line string) {
				if strings.HasPrefix(line, "project: ") { // the other one takes over in the middle
					err = newTrial(from, to).Run(t.Context(), false)
				}
			}
			if late := other.Run(t.Context(), false); late == nil {
				t.Error("the one that was overtaken says nothing")
			}
			if err != nil {
				t.Errorf("the one that overtook: %v", err)
			}
			if diff := cmp.Diff(sums(t, from, engine), sums(t, to, engine)); diff != "" {
				t.Errorf("-source +target\n%s", diff)
			}
		})
	}
}

// TestForeignRows: what somebody else has put into the target is met where it
// is in the way, and is gone in the end.
func TestForeignRows(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			from, to := dbtest.OpenRecorded(t, "sqlite"), empty(t, engine)
			interrupt(t, newTrial(from, to), 5)
			exec(t, to, `insert into project (id, name, domain_id, is_domain) values ('<<keystone.domain.root>>', 'root', '<<keystone.domain.root>>', $1)`, true)
			exec(t, to, `insert into role (id, name) values ('extra', 'extra')`)
			if err := newTrial(from, to).Run(t.Context(), false); err == nil || !strings.Contains(err.Error(), "copy project: another program has changed the target; the same command begins anew") {
				t.Fatalf("with foreign rows: %v", err)
			}
			newTrial(from, to).must(t)
			if diff := cmp.Diff(sums(t, from, engine), sums(t, to, engine)); diff != "" {
				t.Errorf("-source +target\n%s", diff)
			}
		})
	}
}

// TestSpoilt: a target that somebody else has written to is not called whole,
// and the next run begins anew.
func TestSpoilt(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			from, to := dbtest.OpenRecorded(t, "sqlite"), empty(t, engine)
			interrupt(t, newTrial(from, to), 25)
			exec(t, to, `update project set description = 'x' where id = 'default'`)
			err := newTrial(from, to).Run(t.Context(), false)
			if err == nil || !strings.Contains(err.Error(), "project has 22 rows with checksum") || !strings.Contains(err.Error(), "begins anew") {
				t.Fatalf("a spoilt copy: %v", err)
			}
			if _, err := migrations.Version(t.Context(), to); !errors.Is(err, migrations.ErrUnfinished) {
				t.Errorf("a spoilt copy is %v", err)
			}
			newTrial(from, to).must(t)
			if diff := cmp.Diff(sums(t, from, engine), sums(t, to, engine)); diff != "" {
				t.Errorf("-source +target\n%s", diff)
			}
		})
	}
}
