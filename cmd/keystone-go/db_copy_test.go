package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestDBCopy: the verb from its flags to a server on the copy.
func TestDBCopy(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.must(t, "fernet_setup")
	p.must(t, "credential_setup")
	p.must(t, "bootstrap", "--bootstrap-password", "s3cret")
	from, to := "sqlite:///"+p.dir+"/keystone.db", dbtest.EmptyURL(t, "postgres")

	r := p.must(t, "db_copy", "--from", from, "--to", to, "--dry-run")
	for _, want := range []string{"From " + from + "\nto   postgresql://", "\nlocal_user                                 1  ", "\nNothing was written; the copy can be made.\n"} {
		r.expect(t, "--dry-run", 0, want, "")
	}
	p.run(t, "db_copy", "--from", to, "--to", from).expect(t, "from nothing", 1, "", "run db_sync there first")

	at := filepath.Join(p.dir, "connection")
	if err := os.WriteFile(at, []byte(to+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = p.must(t, "db_copy", "--from", from, "--to", "@"+at)
	r.expect(t, "db_copy", 0, "\nThe copy is complete: every table has the rows and the checksum above.\n", "local_user: 1 of 1 rows\n")
	if strings.Contains(r.out+r.err, "$2b$") || strings.Contains(r.out+r.err, "s3cret") {
		t.Errorf("a secret is told:\n%s%s", r.out, r.err)
	}
	p.run(t, "db_copy", "--from", from, "--to", to).expect(t, "again", 1, "", "the target is a Keystone database with content")

	back := filepath.Join(p.dir, "back.db")
	p.must(t, "db_copy", "--from", to, "--to", "sqlite:///"+back, "--dry-run")
	if _, err := os.Stat(back); err == nil {
		t.Error("--dry-run made a file")
	}
	p.must(t, "db_copy", "--from", to, "--to", "sqlite:///"+back)
	if info, err := os.Stat(back); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file of the copy: %v, %v", info, err)
	}
	for _, connection := range []string{to, "sqlite:///" + back} {
		s := launch(t, []string{"OS_DATABASE__CONNECTION='" + connection + "'"}, nil, "--config-file", p.conf, "serve")
		if _, err := s.login(); err != nil {
			t.Errorf("a server on %.10s…: %v", connection, err)
		}
		s.end(t)
	}
}

func TestDBCopyMisuse(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	from := "sqlite:///" + p.dir + "/keystone.db"
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "--from and --to are needed"},
		{[]string{"--from", from}, 2, "--from and --to are needed"},
		{[]string{"--from", from, "--to", "sqlite:////x.db", "--rows", "0"}, 2, "--rows is a number from 1"},
		{[]string{"--from", from, "--to", "sqlite:///" + p.dir + "/./keystone.db"}, 1, "are the same database"},
		{[]string{"--from", "sqlite:///" + p.dir + "/none.db", "--to", from}, 1, "none.db does not exist"},
		{[]string{"--from", from, "--to", "oracle://u:hunter2@h/d"}, 1, `--to: no support for databases of "oracle"`},
		{[]string{"--from", from, "--to", "hunter2"}, 1, "--to: the database connection is no URL"},
		{[]string{"--from", "@" + p.dir + "/none", "--to", from}, 1, "--from: open "},
		{[]string{"--from", from, "--to", "postgresql://u:hunter2@127.0.0.1:1/d"}, 1, "--to: open the database: "},
	} {
		r := p.run(t, append([]string{"db_copy"}, c.args...)...)
		r.expect(t, strings.Join(c.args, " "), c.code, "", c.says)
		if strings.Contains(r.out+r.err, "hunter2") {
			t.Errorf("%v: the password is told: %s", c.args, r.err)
		}
	}
	if files, _ := filepath.Glob(p.dir + "/none*"); len(files) > 0 {
		t.Errorf("a source was made: %v", files)
	}
}

// copying is a process that copies.
func copying(from, to string) *exec.Cmd {
	c := exec.Command(os.Args[0], "db_copy", "--from", from, "--to", to, "--rows", "2")
	c.Env = append(os.Environ(), beTheProgram+"=1")
	return c
}

// killed lets a copy write so many lines of progress, waits, and kills it. It
// tells whether the copy ended before, and when the lines had come.
func killed(t *testing.T, from, to string, lines int, wait time.Duration) (ended bool, came time.Duration) {
	t.Helper()
	c := copying(from, to)
	progress, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(progress); lines > 0 && s.Scan(); lines-- {
	}
	came = time.Since(began)
	time.Sleep(wait)
	_ = c.Process.Kill()
	_ = c.Wait()
	return c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL, came
}

// TestDBCopyKilled: kill -9 at ten points, from the schema on to the reading
// back. No server starts on what is there, db_sync leaves it alone, and the same
// command ends it.
func TestDBCopyKilled(t *testing.T) {
	for _, way := range [][2]string{{"postgres", "sqlite"}, {"sqlite", "postgres"}, {"sqlite", "mariadb"}, {"mariadb", "postgres"}} {
		t.Run(way[0]+" to "+way[1], func(t *testing.T) {
			from := dbtest.RecordedURL(t, way[0])
			for range 3 { // a busy machine may kill too late
				if killedTenTimes(t, from, dbtest.EmptyURL(t, way[1])) {
					return
				}
			}
			t.Error("the copy ended before it was killed, three times")
		})
	}
}

// killedTenTimes tells whether the copy lived to be killed each time.
func killedTenTimes(t *testing.T, from, to string) bool {
	t.Helper()
	p := newPlace(t, "[database]", "connection = "+to)
	p.must(t, "fernet_setup")
	for point := range 10 {
		if ended, _ := killed(t, from, to, 4, 0); ended {
			return false
		}
		for _, args := range [][]string{{"serve"}, {"db_sync"}, {"db_sync", "--check"}, {"bootstrap", "--bootstrap-password", "x"}, {"trust_flush"}} {
			r := p.run(t, args...)
			if r.code != 1 || !strings.Contains(r.err, "the database is an unfinished copy: run keystone-go db_copy again") {
				t.Errorf("point %d: %v: exit code %d, %s", point, args, r.code, r.err)
			}
		}
	}
	began := time.Now()
	out, err := copying(from, to).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "The copy goes on where it stopped.") || !strings.Contains(string(out), "The copy is complete") {
		t.Fatalf("the last run: %v\n%s", err, out)
	}
	t.Logf("the last run took %s", time.Since(began))
	p.must(t, "db_sync", "--check")
	p.must(t, "db_sync")
	return true
}

// TestDBCopyKilledAnywhere kills by time: in the schema's making, between a
// commit and its line, while it reads back. A copy that is not whole says so.
func TestDBCopyKilledAnywhere(t *testing.T) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			from := dbtest.RecordedURL(t, "sqlite")
			_, first := killed(t, from, dbtest.EmptyURL(t, engine), 1, 0)
			_, last := killed(t, from, dbtest.EmptyURL(t, engine), 1000, 0)
			var was []string
			for _, at := range []time.Duration{first * 3 / 4, first, last} {
				to := dbtest.EmptyURL(t, engine)
				killed(t, from, to, 0, at)
				was = append(was, goesOn(t, from, to))
			}
			t.Logf("killed, it was %q", was)
		})
	}
}

// goesOn wants a copy that was killed to be as it says, and to be ended by the
// same command. It tells what it was.
func goesOn(t *testing.T, from, to string) (was string) {
	t.Helper()
	p := newPlace(t, "[database]", "connection = "+to)
	switch r := p.run(t, "db_sync", "--check"); {
	case r.code == 0:
		was = "whole"
	case r.code == 2:
		was = "not begun"
	case strings.Contains(r.err, "unfinished copy"):
		was = "unfinished"
	default:
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	out, err := copying(from, to).CombinedOutput()
	if (err != nil) != (was == "whole") || err != nil && !strings.Contains(string(out), "the target is a Keystone database with content") {
		t.Errorf("%s: %v\n%s", was, err, out)
	}
	p.must(t, "db_sync", "--check")
	n, err := db.One(t.Context(), dbtest.Connect(t, db.Config{URL: to}), db.Query[int]{
		Text: `select count(*) from local_user`, Scan: func(r db.Row) (n int, err error) { err = r.Scan(&n); return n, err },
	})
	if err != nil || n != 22 {
		t.Errorf("%s: %d users, %v", was, n, err)
	}
	return was
}
