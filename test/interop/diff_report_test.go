//go:build interop

package interop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
)

// saveReport leaves what a test counted in build/interop, for the report of
// make interop.
func saveReport(t *testing.T, name string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(harness.Testdata("../../build/interop"), "report")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}
