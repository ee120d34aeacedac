//go:build interop

package oslo_test

import (
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// keystone runs options.py with the Python that has Keystone: the one in the
// folder KEYSTONE_GO_PYTHON_KEYSTONE, or the one that make interop makes.
func keystone(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	bin := cmp.Or(os.Getenv("KEYSTONE_GO_PYTHON_KEYSTONE"), "../../build/interop/venv/bin")
	return python(t, bin, "make interop", append([]string{"options.py"}, args...)...)
}

// TestTable: the list of options is the program's own.
func TestTable(t *testing.T) {
	want, err := os.ReadFile(current)
	if err != nil {
		t.Fatal(err)
	}
	cmd := keystone(t, "tsv")
	var errors strings.Builder
	cmd.Stderr = &errors
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errors.String())
	}
	if d := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("config.tsv is not what options.py tsv prints (-file +printed):\n%s", d)
	}
}

// TestEqualToKeystone is TestEqualToOslo with the options as Keystone registers
// them.
func TestEqualToKeystone(t *testing.T) {
	equalToPython(t, keystone(t, "read", retired))
}
