package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// TestCommitted: who wrote what is told once it stands, and not before.
func TestCommitted(t *testing.T) {
	const (
		insert = `insert into region (id, description, extra) values ($1, $2, $3)`
		update = `update region set description = $1 where id = $2`
	)
	read := db.Query[string]{Text: `select id from region order by id`, Scan: func(r db.Row) (s string, err error) { err = r.Scan(&s); return s, err }}
	undone := errors.New("undone")
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		var told [][]string
		w := db.Committed(d, func(ctx context.Context, writes []string) {
			if ctx.Err() != nil {
				t.Errorf("told under a context that has ended: %v", ctx.Err())
			}
			// Another connection sees it.
			if _, err := db.All(ctx, d, read); err != nil {
				t.Error(err)
			}
			told = append(told, writes)
		})
		ctx := t.Context()
		batch := func(c db.Conn, writes ...[2]string) error {
			var b db.Batch
			db.Add(&b, read)
			for _, x := range writes {
				b.Exec(update, x[0], x[1])
			}
			return c.Send(ctx, &b)
		}
		for _, c := range []struct {
			name string
			do   func() error
			fail error
			want [][]string
		}{
			{"exec", func() error { _, err := w.Exec(ctx, insert, "a", "", "{}"); return err }, nil, [][]string{{insert}}},
			{"a refused exec", func() error { _, err := w.Exec(ctx, insert, "a", "", "{}"); return err }, db.ErrDuplicate, nil},
			{"an exec that finds nothing", func() error { _, err := w.Exec(ctx, update, "x", "none"); return err }, nil, nil},
			{"a read", func() error { _, err := db.All(ctx, w, read); return err }, nil, nil},
			{"a batch of reads", func() error { return batch(w) }, nil, nil},
			{"a batch", func() error { return batch(w, [2]string{"1", "a"}, [2]string{"1", "none"}) }, nil, [][]string{{update}}},
			{"a transaction", func() error {
				return w.Tx(ctx, func(c db.Conn) error {
					if _, err := c.Exec(ctx, insert, "b", "", "{}"); err != nil {
						return err
					}
					if len(told) > 0 {
						t.Error("told before the commit")
					}
					return batch(c, [2]string{"2", "b"})
				})
			}, nil, [][]string{{insert, update}}},
			{"a transaction of reads", func() error {
				return w.Tx(ctx, func(c db.Conn) error { _, err := db.All(ctx, c, read); return err })
			}, nil, nil},
			{"an undone transaction", func() error {
				return w.Tx(ctx, func(c db.Conn) error {
					if _, err := c.Exec(ctx, insert, "c", "", "{}"); err != nil {
						return err
					}
					return undone
				})
			}, undone, nil},
			{"a savepoint", func() error {
				return w.Tx(ctx, func(c db.Conn) error {
					return db.Nested(ctx, c, func(c db.Conn) error { _, err := c.Exec(ctx, insert, "d", "", "{}"); return err })
				})
			}, nil, [][]string{{insert}}},
		} {
			told = nil
			if err := c.do(); !errors.Is(err, c.fail) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.fail)
			}
			if d := cmp.Diff(c.want, told); d != "" {
				t.Errorf("%s: told (-want +got):\n%s", c.name, d)
			}
		}
		ended, end := context.WithCancel(ctx)
		told = nil
		err := w.Tx(ended, func(c db.Conn) error {
			_, err := c.Exec(ended, insert, "e", "", "{}")
			end()
			return err
		})
		if err == nil || len(told) != 1 {
			t.Errorf("a commit that nobody knows of: got %v, told %v", err, told)
		}
	})
}
