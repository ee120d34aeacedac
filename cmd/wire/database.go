package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// DatabaseFile keeps a SQLite database that is not there from being made
// empty: making it is db_sync's.
func DatabaseFile(connection string) error {
	path := SQLiteFile(connection)
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the database %s does not exist: run db_sync", path)
	}
	return nil
}

// SQLiteFile is the file of a sqlite:/// URL, "" where there is none.
func SQLiteFile(connection string) string {
	path, ok := strings.CutPrefix(connection, "sqlite:///")
	path, _, _ = strings.Cut(path, "?")
	if !ok || path == ":memory:" {
		return ""
	}
	return path
}
