package follow_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/follow"
)

// file is a source whose value is the text of one file; "bad" cannot be read.
type file struct {
	path    string
	now     time.Time
	loads   int
	failed  []string
	changed []string
}

func newFile(t *testing.T, text string) *file {
	t.Helper()
	f := &file{path: filepath.Join(t.TempDir(), "f"), now: time.Unix(1796000000, 0)}
	f.write(t, text)
	return f
}

// write replaces the file, so that its inode tells the change whatever the
// clock of the file system.
func (f *file) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(f.path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.path+".new", f.path); err != nil {
		t.Fatal(err)
	}
}

func (f *file) source() follow.Source[string] {
	return follow.Source[string]{
		Print: func() (string, error) { return string(follow.Stamp(nil, f.path)), nil },
		Load: func(last string) (string, error) {
			f.loads++
			text, err := os.ReadFile(f.path)
			if err == nil && string(text) == "bad" {
				err = errors.New("bad after " + last)
			}
			return string(text), err
		},
		Failed:  func(err error) { f.failed = append(f.failed, err.Error()) },
		Changed: func(s string) { f.changed = append(f.changed, s) },
		Now:     func() time.Time { return f.now },
	}
}

func (f *file) open(t *testing.T) *follow.Value[string] {
	t.Helper()
	v, err := follow.Open(f.source())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestChangesAreSeenWithinASecond(t *testing.T) {
	f := newFile(t, "one")
	v := f.open(t)
	f.write(t, "two")
	f.now = f.now.Add(999 * time.Millisecond)
	want(t, "within the second", v.Get(), "one")
	f.now = f.now.Add(time.Millisecond)
	want(t, "after a second", v.Get(), "two")
	f.now = f.now.Add(time.Hour)
	want(t, "nothing changed", v.Get(), "two")
	if f.loads != 2 || len(f.changed) != 1 || f.changed[0] != "two" {
		t.Errorf("read %d times, told of %q", f.loads, f.changed)
	}
	f.write(t, "three")
	f.now = f.now.Add(-24 * time.Hour) // the clock is set back
	want(t, "clock set back", v.Get(), "three")
}

func TestFreshLooksAreBounded(t *testing.T) {
	f := newFile(t, "one")
	v := f.open(t)
	for range 10 {
		v.Fresh()
	}
	f.write(t, "two")
	want(t, "the eleventh in a second", v.Fresh(), "one")
	f.now = f.now.Add(time.Second)
	want(t, "a second later", v.Fresh(), "two")
}

func TestLastGoodStays(t *testing.T) {
	f := newFile(t, "one")
	v := f.open(t)
	f.write(t, "bad")
	for range 3 {
		f.now = f.now.Add(time.Second)
		want(t, "bad", v.Get(), "one")
	}
	if err := v.Err(); err == nil || err.Error() != "bad after one" {
		t.Errorf("Err: %v", err)
	}
	if len(f.failed) != 1 {
		t.Errorf("told %q, want once", f.failed)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Second)
	want(t, "gone", v.Get(), "one")
	f.write(t, "two")
	f.now = f.now.Add(time.Second)
	want(t, "good again", v.Get(), "two")
	if err := v.Err(); err != nil || len(f.failed) != 2 {
		t.Errorf("Err: %v; told %q", err, f.failed)
	}
}

func TestOpenFails(t *testing.T) {
	f := newFile(t, "bad")
	if _, err := follow.Open(f.source()); err == nil || len(f.failed) > 0 {
		t.Errorf("got %v, told %q", err, f.failed)
	}
}

// Files that change while they are read are read again, and not for ever.
func TestChangeWhileReading(t *testing.T) {
	f := newFile(t, "0")
	s := f.source()
	load, changes := s.Load, 2
	s.Load = func(last string) (string, error) {
		text, err := load(last)
		if changes > 0 {
			changes--
			f.write(t, text+"+")
		}
		return text, err
	}
	v, err := follow.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "after two changes", v.Get(), "0++")
	changes = 1000
	f.write(t, "x")
	f.now = f.now.Add(time.Second)
	want(t, "without end", v.Get(), "0++")
	if err := v.Err(); err == nil || !strings.Contains(err.Error(), "change while") {
		t.Errorf("Err: %v", err)
	}
}

func TestManyReaders(t *testing.T) {
	f := newFile(t, "one")
	s := f.source()
	s.Now = nil
	v, err := follow.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if got := v.Get() + v.Fresh(); !strings.Contains("oneone twotwo onetwo", got) {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	f.write(t, "two")
	all.Wait()
}
