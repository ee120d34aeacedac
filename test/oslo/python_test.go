//go:build interop

package oslo_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	program = "options.py"
	data    = "../testdata/conf/"
)

// job is one configuration to read: files, then the *.conf files of folders,
// and the environment over them.
type job struct {
	Files []string          `json:"files"`
	Dirs  []string          `json:"dirs"`
	Env   map[string]string `json:"env"`

	name string
}

// reading is what the real oslo.config makes of a job.
type reading struct {
	Fatal  *string `json:"fatal"`
	Values map[string]struct {
		Value any     `json:"value"`
		Error *string `json:"error"`
	} `json:"values"`
}

// python runs the interpreter that has Python Keystone: the one in the folder
// KEYSTONE_GO_PYTHON_KEYSTONE, or the one that make interop makes.
func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	bin := os.Getenv("KEYSTONE_GO_PYTHON_KEYSTONE")
	if bin == "" {
		bin = "../../build/interop/venv/bin"
	}
	path, err := filepath.Abs(filepath.Join(bin, "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("there is no Python Keystone in %s: make interop gets it, or name another in KEYSTONE_GO_PYTHON_KEYSTONE", bin)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PYTHONUTF8=1", "PYTHONWARNINGS=ignore"}
	return cmd
}

// readAll has the real oslo.config read the jobs.
func readAll(t *testing.T, jobs []job) []reading {
	t.Helper()
	var in, errors bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, j := range jobs {
		if err := encoder.Encode(j); err != nil {
			t.Fatal(err)
		}
	}
	cmd := python(t, program, "read", data+"retired.tsv")
	cmd.Stdin, cmd.Stderr = &in, &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, errors.String())
	}
	var list []reading
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r reading
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s printed %.200q: %v", program, lines.Text(), err)
		}
		list = append(list, r)
	}
	if len(list) != len(jobs) {
		t.Fatalf("%s read %d of %d\n%s", program, len(list), len(jobs), errors.String())
	}
	return list
}
