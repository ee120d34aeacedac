package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// result is what a run of the command left behind.
type result struct {
	code     int
	out, err string
}

// call is a run of the command; the zero value is an ordinary user's without
// an environment.
type call struct {
	as    string // keystone-go when empty
	env   []string
	stdin string
	root  bool
}

func (c call) run(t *testing.T, args ...string) result {
	t.Helper()
	p, out, errors := c.program(args...)
	return result{p.run(t.Context()), out.String(), errors.String()}
}

func (c call) program(args ...string) (p *program, out, errors *buffer) {
	out, errors = &buffer{}, &buffer{}
	p = &program{argv0: "/usr/bin/keystone-go", args: args, env: c.env, uid: 1000, in: strings.NewReader(c.stdin), out: out, err: errors}
	if c.as != "" {
		p.argv0 = c.as
	}
	if c.root {
		p.uid = 0
	}
	return p, out, errors
}

// buffer is read while the command writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// place is a folder with a keystone.conf whose paths are all inside it.
type place struct{ dir, conf string }

func newPlace(t *testing.T, more ...string) place {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`[DEFAULT]
[database]
connection = sqlite:///%[1]s/keystone.db
[fernet_tokens]
key_repository = %[1]s/fernet-keys
[fernet_receipts]
key_repository = %[1]s/fernet-keys
[credential]
key_repository = %[1]s/credential-keys
[identity]
password_hash_rounds = 4
[keystone_go]
listen = 127.0.0.1:0
admin_listen = 127.0.0.1:0
`, dir) + strings.Join(more, "\n") + "\n"
	p := place{dir, filepath.Join(dir, "keystone.conf")}
	if err := os.WriteFile(p.conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) run(t *testing.T, args ...string) result {
	t.Helper()
	return call{}.run(t, append([]string{"--config-file", p.conf}, args...)...)
}

// must runs a command that has to work.
func (p place) must(t *testing.T, args ...string) result {
	t.Helper()
	r := p.run(t, args...)
	if r.code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

// files lists a folder: name, mode and size of each file.
func files(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			lines = append(lines, fmt.Sprintf("%s %v", name, info.Mode()))
		} else {
			lines = append(lines, fmt.Sprintf("%s %v %d", name, info.Mode(), info.Size()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// expect checks exit code and streams; a stream is compared by the text that
// it must hold, "" meaning that it must be empty.
func (r result) expect(t *testing.T, what string, code int, out, errors string) {
	t.Helper()
	if r.code != code {
		t.Errorf("%s: exit code %d, want %d", what, r.code, code)
	}
	for _, s := range []struct{ name, got, want string }{{"stdout", r.out, out}, {"stderr", r.err, errors}} {
		if s.want == "" && s.got != "" || !strings.Contains(s.got, s.want) {
			t.Errorf("%s: %s %q, want %q", what, s.name, s.got[:min(len(s.got), 1000)], s.want)
		}
	}
}

// ownerOf gives the numbers of a file's user and group.
func ownerOf(t *testing.T, path string) (uid, gid string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := info.Sys().(*syscall.Stat_t)
	return strconv.Itoa(int(s.Uid)), strconv.Itoa(int(s.Gid))
}
