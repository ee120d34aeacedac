package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/migrations"
)

// sqliteTemplate is the content of a migrated file, made once a process.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	return sqliteFile(func(d db.DB) error { return migrations.Sync(context.Background(), d) })
})

// sqliteFile gives the content of a file that fill made.
func sqliteFile(fill func(db.DB) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "keystone-go-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "template.db")
	d, err := db.Open(context.Background(), db.Config{URL: "sqlite:///" + path})
	if err != nil {
		return nil, err
	}
	err = fill(d)
	// The last one to leave folds the log into the file.
	d.Close()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// sqliteCopy writes such a content to a file of the test.
func sqliteCopy(t testing.TB, template func() ([]byte, error)) string {
	t.Helper()
	content, err := template()
	if err == nil {
		path := filepath.Join(t.TempDir(), "keystone.db")
		if err = os.WriteFile(path, content, 0o600); err == nil {
			return "sqlite:///" + path
		}
	}
	t.Fatal(fmt.Errorf("dbtest: a SQLite database: %w", err))
	return ""
}
