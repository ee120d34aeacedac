package deployers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// pythonKeystone runs programs of Python Keystone by way of manage.py.
type pythonKeystone struct {
	bin, dir string
	in       io.Writer
	codes    *bufio.Reader
}

// pool holds as many of them as there are cores. What they import takes seconds,
// so all stories share them, a call at a time.
type pool chan *pythonKeystone

func startPool(t *testing.T, bin string) pool {
	t.Helper()
	p := make(pool, runtime.GOMAXPROCS(0))
	for range cap(p) {
		p <- startPython(t, bin)
	}
	return p
}

func (p pool) call(t *testing.T, at place, program string, args, env []string) outcome {
	t.Helper()
	k := <-p
	defer func() { p <- k }()
	return k.call(t, at, program, args, env)
}

func startPython(t *testing.T, bin string) *pythonKeystone {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "python"), "-W", "ignore", "manage.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &pythonKeystone{bin, t.TempDir(), in, bufio.NewReader(out)}
}

func (k *pythonKeystone) call(t *testing.T, p place, program string, args, env []string) outcome {
	t.Helper()
	out, errs := filepath.Join(k.dir, "out"), filepath.Join(k.dir, "err")
	vars := map[string]string{}
	for _, e := range p.environ(env) {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = value
	}
	if args == nil {
		args = []string{}
	}
	err := json.NewEncoder(k.in).Encode(map[string]any{
		"program": filepath.Join(k.bin, program), "args": args, "env": vars, "dir": p.dir, "out": out, "err": errs,
	})
	if err != nil {
		t.Fatal(err)
	}
	var o outcome
	if _, err := fmt.Fscanln(k.codes, &o.code); err != nil {
		t.Fatalf("manage.py: %v", err)
	}
	for path, text := range map[string]*string{out: &o.out, errs: &o.err} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		*text = string(b)
	}
	return o
}
