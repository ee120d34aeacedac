package dbtest

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// portable are the texts that have to be read by every engine: reads and writes
// of rows, but for those that name what Postgres alone has, and those of our own
// tables, which run on each engine in their own tests.
var (
	portable     = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|with)\s`)
	postgresOnly = regexp.MustCompile(`(?i)pg_|txid_|on conflict|returning|clock_timestamp|::|information_schema|generate_series|public\.|keystone_go_|xmin| as text\)`)
)

// prepared are the texts that have run on Postgres in this process, and MariaDB
// has read.
var prepared struct {
	sync.Mutex
	texts map[string]bool
	on    db.DB
}

// preparing has MariaDB read, at the end of a test, each text that the test has
// run on Postgres: so none is missed that no test runs there. A run that has no
// MariaDB for all its processes does without.
func preparing(t testing.TB, d db.DB) db.DB {
	t.Helper()
	if os.Getenv(MariaEnv) == "" {
		return d
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for text := range seen {
			if err := prepare(text); err != nil {
				t.Errorf("MariaDB does not read what ran on Postgres: %s: %v", text, err)
			}
		}
	})
	return db.Watch(d, func(e db.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, text := range e.Texts {
			if e.Err == nil && portable.MatchString(text) && !postgresOnly.MatchString(text) {
				seen[text] = true
			}
		}
	})
}

func prepare(text string) error {
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.texts[text] {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if prepared.on == nil {
		s, err := maria()
		if err != nil {
			return err
		}
		name := s.freshName()
		if err := mariaNew(ctx, s, name, mariaTemplate); err != nil {
			return err
		}
		if prepared.on, err = db.Open(ctx, db.Config{URL: s.database(name)}); err != nil {
			return err
		}
		prepared.texts = map[string]bool{}
	}
	err := db.Prepare(ctx, prepared.on, strings.ReplaceAll(text, db.ForShare(db.Postgres), db.ForShare(db.MariaDB)))
	if err != nil && !strings.Contains(err.Error(), "Error 1146 ") { // a table that the test made for itself
		return err
	}
	prepared.texts[text] = true
	return nil
}
