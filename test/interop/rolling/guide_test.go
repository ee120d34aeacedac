//go:build interop

package rolling_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is a fenced block of the guide: commands, or a file that begins with a
// comment of its path.
type block struct {
	heading, kind string
	lines         []string
}

// commands are the lines behind a prompt.
func (b block) commands() string {
	var out []string
	for _, l := range b.lines {
		if c, ok := strings.CutPrefix(l, "$ "); ok {
			out = append(out, c)
		}
	}
	return strings.Join(out, "\n")
}

// guide reads docs/migrating.md.
func guide(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile("../../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	var (
		blocks  []block
		heading string
		in      *block
	)
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case in != nil && line == "```":
			blocks = append(blocks, *in)
			in = nil
		case in != nil:
			in.lines = append(in.lines, line)
		case strings.HasPrefix(line, "```"):
			in = &block{heading: heading, kind: line[3:]}
		case strings.HasPrefix(line, "## "):
			heading = line[3:]
		}
	}
	return blocks
}

// place puts the places of this test in the place of those in the guide.
type place struct {
	dir      string
	replaced *strings.Replacer
	env      []string
}

func (p place) fill(text string) string { return p.replaced.Replace(text) }

// file writes a block to the path in its first line: an ini block behind what
// is there, another in its place.
func (p place) file(t *testing.T, b block) {
	t.Helper()
	path, ok := strings.CutPrefix(b.lines[0], "# /")
	if !ok {
		t.Fatalf("a block of %s under %q does not say which file it is", b.kind, b.heading)
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if b.kind == "ini" {
		flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(p.fill("/"+path), flags, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(p.fill(strings.Join(b.lines[1:], "\n")) + "\n"); err != nil {
		t.Fatal(err)
	}
}

// run runs the commands of a block.
func (p place) run(t *testing.T, b block) {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", p.fill(b.commands()))
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("under %q:\n%s\n%v\n%s", b.heading, p.fill(b.commands()), err, out)
	}
	// The runtime API of HAProxy tells of mistakes in words alone.
	for _, bad := range []string{"No such", "Unknown command", "Permission denied", "can't"} {
		if strings.Contains(string(out), bad) {
			t.Fatalf("under %q:\n%s\nsays:\n%s", b.heading, p.fill(b.commands()), out)
		}
	}
}

// systemctl makes a command of that name that has the test start and stop
// things.
func systemctl(dir, control string) error {
	script := fmt.Sprintf("#!/bin/sh\nexec curl -fsS --max-time 200 -X POST %s/$1/$2\n", control)
	return os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755)
}
