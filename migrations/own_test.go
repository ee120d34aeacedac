package migrations_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/migrations"
)

// Tables of our own come only where they are asked for, and leave Python's
// schema, its version rows and what each run of db_sync does as they are.
func TestOwnTables(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		ctx := t.Context()
		golden(t, "schema.txt", sameEverywhere(t, d))
		if err := migrations.VerifyOwn(ctx, d, migrations.RateLimit); !errors.Is(err, migrations.ErrBehind) {
			t.Errorf("before: got %v, want ErrBehind", err)
		}
		for range 2 {
			if err := migrations.SyncOwn(ctx, d, migrations.RateLimit); err != nil {
				t.Fatal(err)
			}
			if err := migrations.VerifyOwn(ctx, d, migrations.RateLimit); err != nil {
				t.Errorf("after: %v", err)
			}
		}
		var own, rest []string
		for table := range strings.SplitSeq(sameEverywhere(t, d), "table ") {
			if strings.HasPrefix(table, "keystone_go_") {
				own = append(own, table)
			} else {
				rest = append(rest, table)
			}
		}
		if len(own) != 2 {
			t.Errorf("own tables: %q", own)
		}
		golden(t, "schema.txt", strings.Join(rest, "table "))
		checkHead(t, d)
		if err := migrations.Sync(ctx, d); err != nil {
			t.Errorf("db_sync beside them: %v", err)
		}
		if err := migrations.Verify(ctx, d, false); err != nil {
			t.Errorf("start beside them: %v", err)
		}
		stands(t, d, "beside them", headExpand, headContract, migrations.UpToDate)
		if n := count(t, d, "alembic_version"); n != 2 {
			t.Errorf("%d version rows, want 2", n)
		}
	})
}

// TestOwnAtOnce: several programs that make the tables at once end well.
func TestOwnAtOnce(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			address := dbtest.OpenURL(t, engine)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					d, err := db.Open(t.Context(), db.Config{URL: address})
					if err != nil {
						t.Error(err)
						return
					}
					defer d.Close()
					if err := migrations.SyncOwn(t.Context(), d, migrations.RateLimit); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}
