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
	dir, err := os.MkdirTemp("", "keystone-go-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "template.db")
	ctx := context.Background()
	d, err := db.Open(ctx, db.Config{URL: "sqlite:///" + path})
	if err != nil {
		return nil, err
	}
	err = migrations.Sync(ctx, d)
	// The last one to leave folds the log into the file.
	d.Close()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func sqliteCopy(t testing.TB) string {
	t.Helper()
	content, err := sqliteTemplate()
	if err == nil {
		path := filepath.Join(t.TempDir(), "keystone.db")
		if err = os.WriteFile(path, content, 0o600); err == nil {
			return "sqlite:///" + path
		}
	}
	t.Fatal(fmt.Errorf("dbtest: a SQLite database: %w", err))
	return ""
}
