package deployers_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
)

// installed is where Python Keystone's programs are if no variable says so; ""
// is nowhere.
var installed string

// TestCalls goes through every story with our program and, where Python
// Keystone is named, with that.
func TestCalls(t *testing.T) {
	bin := install(t)
	theirs := cmp.Or(os.Getenv("KEYSTONE_GO_PYTHON_KEYSTONE"), installed)
	if theirs != "" {
		var err error
		if theirs, err = filepath.Abs(theirs); err != nil {
			t.Fatal(err)
		}
	}
	var keystone pool
	if theirs != "" {
		keystone = startPool(t, theirs)
	}
	o := keysOwner(t)
	rows := 0
	var made, theirsMade atomic.Int32
	t.Run("of", func(t *testing.T) { // ends when all of them have
		for _, s := range stories {
			rows += len(s.rows)
			t.Run(s.who, func(t *testing.T) {
				t.Parallel()
				made.Add(s.ours(t, newPlace(t, o), bin))
				if theirs != "" {
					theirsMade.Add(s.pythons(t, newPlace(t, o), keystone))
				}
			})
		}
	})
	t.Logf("figure: %d of %d calls of %d deployers, %d of them to Python's programs too", made.Load(), rows, len(stories), theirsMade.Load())
	if rows < 60 {
		t.Errorf("%d calls, want at least 60", rows)
	}
}

// TestReasons: what Python's program does otherwise is written down.
func TestReasons(t *testing.T) {
	text, err := os.ReadFile("../../docs/divergences.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stories {
		for _, r := range s.rows {
			if r.python != nil && !r.python.notCalled && !strings.Contains(string(text), "\n## "+r.python.why+" ") {
				t.Errorf("%s: there is no entry %q", r.call, r.python.why)
			}
		}
	}
}

func (s story) prepare(t *testing.T, p place) {
	t.Helper()
	for name, text := range s.conf {
		p.write(t, name, text)
	}
}

// words splits a call and puts the place into it.
func (p place) words(r row) (program string, args []string) {
	all := strings.Fields(p.fill(r.call))
	return all[0], all[1:]
}

func (r row) prepare(t *testing.T, p place) {
	t.Helper()
	if r.before == "" {
		return
	}
	d, err := db.Open(t.Context(), db.Config{URL: "sqlite:///" + p.dir + "/keystone.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Exec(t.Context(), r.before); err != nil {
		t.Fatalf("%s: %v", r.before, err)
	}
}

// ours makes the calls to our program, and tells how many: some are root's.
func (s story) ours(t *testing.T, p place, bin string) (made int32) {
	s.prepare(t, p)
	for _, r := range s.rows {
		if r.root && os.Geteuid() != 0 {
			continue
		}
		r.prepare(t, p)
		program, args := p.words(r)
		got := p.call(t, filepath.Join(bin, program), args, r.env)
		made++
		if got.code != r.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", r.call, got.code, r.code, got.out, got.err)
		}
		for _, x := range []struct{ name, got, want string }{{"stdout", got.out, p.fill(r.out)}, {"stderr", got.err, p.fill(r.err)}} {
			if x.want == "" && x.got != "" || !strings.Contains(x.got, x.want) {
				t.Errorf("%s: %s %q, want %q", r.call, x.name, brief(x.got), x.want)
			}
		}
		if !strings.Contains(got.out+got.err, p.fill(r.both)) {
			t.Errorf("%s: neither stream has %q", r.call, r.both)
		}
		if strings.Contains(got.out+got.err, "secret") {
			t.Errorf("%s: a password is shown\n%s%s", r.call, got.out, got.err)
		}
		if r.files != "" {
			p.expect(t, r, p.files(t))
		}
		r.holdsAfter(t, p, "")
	}
	return made
}

// holdsAfter looks at the database after a call.
func (r row) holdsAfter(t *testing.T, p place, whose string) {
	t.Helper()
	if r.after == "" {
		return
	}
	d, err := db.Open(t.Context(), db.Config{URL: "sqlite:///" + p.dir + "/keystone.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list, err := db.All(t.Context(), d, db.Query[string]{
		Text: r.after,
		Scan: func(row db.Row) (text string, err error) { err = row.Scan(&text); return text, err },
	})
	if err != nil {
		t.Fatalf("%s: %v", r.after, err)
	}
	if got := strings.Join(list, " "); got != r.holds {
		t.Errorf("%s%s: the database holds\n%s\nwant\n%s", whose, r.call, got, r.holds)
	}
}

func (p place) expect(t *testing.T, r row, got string) {
	t.Helper()
	want := p.fill(r.files)
	if got != want {
		t.Errorf("%s: files\n%s\nwant\n%s", r.call, got, want)
	}
}

// pythons makes the calls to Python's programs, and tells how many.
func (s story) pythons(t *testing.T, p place, keystone pool) (made int32) {
	s.prepare(t, p)
	for _, r := range s.rows {
		differs := python{code: r.code}
		if r.python != nil {
			differs = *r.python
		}
		if differs.notCalled || r.root && os.Geteuid() != 0 {
			continue
		}
		r.prepare(t, p)
		program, args := p.words(r)
		got := keystone.call(t, p, program, args, r.env)
		made++
		if got.code != differs.code {
			t.Errorf("Python's %s: exit code %d, want %d\n%s%s", r.call, got.code, differs.code, brief(got.out), brief(got.err))
		}
		if r.python == nil && !strings.Contains(got.out+got.err, p.fill(r.both)) {
			t.Errorf("Python's %s: neither stream has %q\n%s%s", r.call, r.both, brief(got.out), brief(got.err))
		}
		if r.files != "" && !differs.files {
			p.expect(t, r, p.files(t))
		}
		r.holdsAfter(t, p, "Python's ")
	}
	return made
}
