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
	data    = "../testdata/conf/"
	current = data + "config.tsv"
	retired = data + "retired.tsv"
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

// python runs the interpreter of a folder of programs; what gets it is told
// when it is not there. Outside of CI the test is then left out.
func python(t *testing.T, bin, gets string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(bin, "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		message := "there is no Python in " + bin + ": " + gets + " makes it"
		if os.Getenv("CI") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PYTHONUTF8=1", "PYTHONWARNINGS=ignore", "PYTHONDONTWRITEBYTECODE=1"}
	return cmd
}

// converse sends a program questions, a line of JSON each, and reads a line for
// each.
func converse[Q, A any](t *testing.T, cmd *exec.Cmd, questions []Q) []A {
	t.Helper()
	var in, errors bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, q := range questions {
		if err := encoder.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Stdin, cmd.Stderr = &in, &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errors.String())
	}
	var list []A
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var a A
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v printed %.200q: %v", cmd.Args, lines.Text(), err)
		}
		list = append(list, a)
	}
	if len(list) != len(questions) {
		t.Fatalf("%v answered %d of %d\n%s", cmd.Args, len(list), len(questions), errors.String())
	}
	return list
}
