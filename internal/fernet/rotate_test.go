package fernet_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	slices.Sort(s)
	return strings.Join(s, " ")
}

func content(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func all(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name := range strings.FieldsSeq(names(t, dir)) {
		files[name] = content(t, dir, name)
	}
	return files
}

func TestSetup(t *testing.T) {
	// With the stroke at its end that the default of key_repository has.
	dir := filepath.Join(t.TempDir(), "etc", "fernet-keys") + "/"
	if fernet.Initialized(dir) {
		t.Error("a missing folder is set up")
	}
	owner := fernet.Owner{UID: os.Getuid(), GID: os.Getgid()}
	if err := fernet.Setup(dir, owner); err != nil {
		t.Fatalf("Setup: %v", err)
	}
	if got := names(t, dir); got != "0 1" {
		t.Errorf("Setup made %s, want 0 1", got)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: got %v, %v, want 0700", info.Mode(), err)
	}
	first := all(t, dir)
	for name, text := range first {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v, want 0600", name, info.Mode(), err)
		}
		if len(text) != 44 {
			t.Errorf("%s holds %d bytes, want 44 and no line end", name, len(text))
		}
		parse(t, text)
	}
	if first["0"] == first["1"] {
		t.Error("both keys are the same")
	}
	if err := fernet.Setup(dir, owner); err != nil || !fernet.Initialized(dir) {
		t.Errorf("Setup twice: %v", err)
	}
	if diff := cmp.Diff(first, all(t, dir)); diff != "" {
		t.Errorf("Setup twice changed the folder: %s", diff)
	}
}

func TestSetupGivesAway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("only root may give files away; the error is tested instead")
		if err := fernet.Setup(filepath.Join(t.TempDir(), "keys"), fernet.Owner{UID: 0, GID: 0}); err == nil {
			t.Error("Setup for root: no error")
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "keys")
	if err := fernet.Setup(dir, fernet.Owner{UID: 42424, GID: 42425}); err != nil {
		t.Fatalf("Setup: %v", err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "0"), filepath.Join(dir, "1")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 42424 || s.Gid != 42425 {
			t.Errorf("%s belongs to %d:%d", path, s.Uid, s.Gid)
		}
	}
}

func TestRotate(t *testing.T) {
	cases := []struct {
		name, before string
		maxActive    int
		want         string
	}{
		{"the first", "0 1", 3, "0 1 2"},
		{"the oldest goes", "0 1 2", 3, "0 2 3"},
		{"only the staged one", "0", 3, "0 1"},
		{"with a gap", "0 7", 3, "0 7 8"},
		{"max lowered", "0 3 4 5 6", 3, "0 6 7"},
		{"max raised", "0 3 4", 10, "0 3 4 5"},
		{"two", "0 1", 2, "0 2"},
		{"one keeps the new staged key alone", "0 1", 1, "0"},
		{"nine to ten", "0 8 9", 3, "0 10 9"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for i, name := range strings.Fields(c.before) {
				files[name] = key(byte(i))
			}
			dir := folder(t, files)
			if err := fernet.Rotate(dir, c.maxActive, anyone); err != nil {
				t.Fatalf("Rotate: %v", err)
			}
			if got := names(t, dir); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for _, text := range files {
				if content(t, dir, "0") == text {
					t.Error("the new staged key is an old one")
				}
			}
			// Whatever stays under its old number is what it was.
			for name, text := range all(t, dir) {
				if was, ok := files[name]; ok && name != "0" && was != text {
					t.Errorf("%s has changed", name)
				}
			}
		})
	}
}

func TestRotateOverALeftover(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1), "0.tmp": "half a k"})
	if err := fernet.Rotate(dir, 3, anyone); err != nil {
		t.Fatalf("Rotate: %v", err)
	}
	if got := names(t, dir); got != "0 1 2" {
		t.Errorf("got %s", got)
	}
	if got := content(t, dir, "2"); got != key(0) {
		t.Error("2 is not what 0 was")
	}
}

func TestRotateRefuses(t *testing.T) {
	secret := key(4)[:30]
	cases := map[string]struct {
		files     map[string]string
		maxActive int
	}{
		"no staged key":        {map[string]string{"1": key(1)}, 3},
		"no key":               {nil, 3},
		"an empty staged key":  {map[string]string{"0": "", "1": key(1)}, 3},
		"a broken staged key":  {map[string]string{"0": secret, "1": key(1)}, 3},
		"max_active_keys of 0": {map[string]string{"0": key(0), "1": key(1)}, 0},
	}
	for name, c := range cases {
		dir := folder(t, c.files)
		before := all(t, dir)
		err := fernet.Rotate(dir, c.maxActive, anyone)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", name, err)
		}
		if diff := cmp.Diff(before, all(t, dir)); diff != "" {
			t.Errorf("%s: the folder has changed: %s", name, diff)
		}
	}
	if err := fernet.Rotate(filepath.Join(t.TempDir(), "none"), 3, anyone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: got %v", err)
	}
	if err := fernet.Rotate(folder(t, nil), 3, anyone); !errors.Is(err, fernet.ErrNotSetUp) {
		t.Errorf("an empty folder: got %v", err)
	}
}

// Whichever step fails, a full disk leaves the folder as it was.
func TestFullDisk(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "0.tmp", Err: syscall.ENOSPC}
	for step := range 4 {
		n := 0
		fail := func(string, string) error {
			n++
			if n == step+1 {
				return full
			}
			return nil
		}
		dir := folder(t, map[string]string{"0": key(0), "1": key(1), "2": key(2)})
		before := all(t, dir)
		if err := fernet.RotateFailing(dir, 3, fail); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("step %d: got %v, want the disk's error", step, err)
		}
		if diff := cmp.Diff(before, all(t, dir)); diff != "" {
			t.Errorf("step %d: the folder has changed: %s", step, diff)
		}
		open(t, dir, new(clock).Now)
	}
	for step := range 7 {
		n := 0
		fail := func(string, string) error {
			n++
			if n == step+1 {
				return full
			}
			return nil
		}
		dir := filepath.Join(t.TempDir(), "keys")
		err := fernet.SetupFailing(dir, fail)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("setup, step %d: got %v, want the disk's error", step, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("setup, step %d: the folder stays with %s", step, names(t, dir))
		}
	}
}

// An old key that cannot be deleted is reported; the rotation stands.
func TestKeyThatStays(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1), "2": key(2)})
	err := fernet.RotateFailing(dir, 3, func(step, _ string) error {
		if step == "remove" {
			return syscall.EPERM
		}
		return nil
	})
	if !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), "done") {
		t.Errorf("got %v", err)
	}
	if got := names(t, dir); got != "0 1 2 3" {
		t.Errorf("got %s", got)
	}
}

// asNobody runs f in a thread that the file system takes for an ordinary user.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Getuid() == 0 {
			runtime.LockOSThread() // and never unlocked: the thread ends with f
			if err := syscall.Setfsuid(65534); err != nil {
				t.Errorf("setfsuid: %v", err)
				return
			}
		}
		f()
	}()
	<-done
}

func TestReadOnlyFolder(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	before := all(t, dir)
	for name := range before {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path := dir; path != filepath.Dir(os.TempDir()) && path != "/"; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && path != os.TempDir() {
			if err := os.Chmod(path, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	asNobody(t, func() {
		if err := fernet.Rotate(dir, 3, anyone); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "0.tmp") {
			t.Errorf("Rotate: got %v, want permission denied", err)
		}
		if err := fernet.Setup(filepath.Join(dir, "keys"), anyone); !errors.Is(err, os.ErrPermission) {
			t.Errorf("Setup: got %v, want permission denied", err)
		}
	})
	if diff := cmp.Diff(before, all(t, dir)); diff != "" {
		t.Errorf("the folder has changed: %s", diff)
	}
}

// Two rotations at once would lose a key; the second one is told to wait.
func TestRotationsAtOnce(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	err := fernet.RotateFailing(dir, 3, func(step, _ string) error {
		if step == "rename" {
			if err := fernet.Rotate(dir, 3, anyone); err == nil {
				t.Error("a rotation in the midst of another: no error")
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("Rotate: %v", err)
	}
	if got := names(t, dir); got != "0 1 2" {
		t.Errorf("got %s", got)
	}
}
