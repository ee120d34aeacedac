package peer

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// SaveReport leaves what a test measured or counted for the report of make
// interop.
func SaveReport(name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	dir := filepath.Join(checkout(), "build", "interop", "report")
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644))
}
