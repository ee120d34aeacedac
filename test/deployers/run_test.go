// Package deployers_test makes the calls that deployers' scripts make, one row a
// call: exit code, streams, files. The program is a real one, under the names
// that the scripts call. With KEYSTONE_GO_PYTHON_KEYSTONE, a folder with the
// programs of Python Keystone, and in make interop the same calls are made to
// those as well, in a folder of their own, and have to come to the same.
package deployers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// names are what deployers call the program.
var names = []string{"keystone-manage", "keystone-status", "oslo-config-validator"}

// install builds the program and links the names to it.
func install(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	program := filepath.Join(bin, "keystone-go")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/keystone-go").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	for _, n := range names {
		if err := os.Symlink(program, filepath.Join(bin, n)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// owner is whom the keys are to belong to: nobody, where this runs as root, who
// has to name one.
type owner struct{ user, group, uid, gid string }

func keysOwner(t *testing.T) owner {
	t.Helper()
	u, err := user.Current()
	if err == nil && u.Uid == "0" {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return owner{u.Username, g.Name, u.Uid, u.Gid}
}

// place is a folder with a keystone.conf in it.
type place struct {
	dir string
	owner
}

const config = `[DEFAULT]
[database]
connection = sqlite:///DIR/keystone.db
[fernet_tokens]
key_repository = DIR/fernet-keys
[fernet_receipts]
key_repository = DIR/receipt-keys
[credential]
key_repository = DIR/credential-keys
[identity]
password_hash_rounds = 4
`

// newPlace makes one that the owner of the keys may look into.
func newPlace(t *testing.T, o owner) place {
	t.Helper()
	dir, err := os.MkdirTemp("", "keystone-go-deployers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := place{dir, o}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(t, "keystone.conf", config)
	return p
}

func (p place) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(p.fill(text)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fill puts the place into a text.
func (p place) fill(s string) string {
	return strings.NewReplacer("DIR", p.dir, "USER", p.user, "GROUP", p.group, "UID", p.uid, "GID", p.gid).Replace(s)
}

// outcome is what a call came to.
type outcome struct {
	code     int
	out, err string
}

// environ is all that a call sees of the environment.
func (p place) environ(more []string) []string {
	return append([]string{"PATH=/usr/bin:/bin", "HOME=" + p.dir, "LC_ALL=C.UTF-8"}, more...)
}

// call runs a program in the place with nothing on stdin.
func (p place) call(t *testing.T, program string, args, env []string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = p.dir, &out, &errs, p.environ(env)
	err := cmd.Run()
	o := outcome{0, out.String(), errs.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		o.code = exit.ExitCode()
	} else if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("%s: %v", program, err)
	}
	return o
}

var (
	ours = regexp.MustCompile(`^(keystone\.db|keystone\.conf|\.keystone|.*\.conf$)`)
	pem  = regexp.MustCompile(`\.pem$`)
)

// files lists what the calls made in the place: name, mode, owner, and the size
// of keys.
func (p place) files(t *testing.T) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(p.dir, path)
		if err != nil || name == "." || ours.MatchString(name) {
			return err
		}
		s := info.Sys().(*syscall.Stat_t)
		line := fmt.Sprintf("%s %v %d:%d", name, info.Mode(), s.Uid, s.Gid)
		if !d.IsDir() && !pem.MatchString(name) {
			line += fmt.Sprintf(" %d", info.Size())
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// brief shows the end of a stream.
func brief(s string) string {
	const most = 1500
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}
