package credential_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

var owner = fernet.Owner{UID: -1, GID: -1}

func now() time.Time { return time.Unix(1_800_000_000, 0) }

func ring(t *testing.T, dir string) fernet.Ring {
	t.Helper()
	r, err := fernet.ReadRing(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// store puts a credential under the primary key of a ring.
func store(t *testing.T, d db.DB, id, plain string, k fernet.Ring) {
	t.Helper()
	blob, err := k.Seal([]byte(plain), now())
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, id, blob, k.Hash())
}

func put(t *testing.T, d db.DB, id, blob, hash string) {
	t.Helper()
	_, err := d.Exec(t.Context(), `insert into credential (id, user_id, type, extra, key_hash, encrypted_blob) values ($1, $2, $3, $4, $5, $6)`,
		id, "user", "cert", "{}", hash, blob)
	if err != nil {
		t.Fatal(err)
	}
}

// opened reads a credential back under the primary key alone.
func opened(t *testing.T, d db.DB, id string, k fernet.Ring) (plain, hash string) {
	t.Helper()
	s, err := db.One(t.Context(), d, db.Query[credential.Sealed]{
		Text: `select id, encrypted_blob, key_hash from credential where id = $1`, Args: []any{id},
		Scan: func(r db.Row) (credential.Sealed, error) {
			var s credential.Sealed
			err := r.Scan(&s.ID, &s.Blob, &s.KeyHash)
			return s, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.Open(s.Blob)
	if err != nil {
		return "", s.KeyHash
	}
	return string(text), s.KeyHash
}

// TestMigrate rotates as often as the cycle of rotate and migrate allows; no
// credential is lost, whatever key it was under.
func TestMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		dir := filepath.Join(t.TempDir(), "keys")
		if err := fernet.Setup(dir, owner); err != nil {
			t.Fatal(err)
		}
		first := ring(t, dir)
		want := map[string]string{"a": `"{\"access\": \"x\", \"secret\": \"é\"}"`, "b": "", "c": strings.Repeat("long ", 1000)}
		for id, plain := range want {
			store(t, d, id, plain, first)
		}
		for round := range 4 {
			k := ring(t, dir)
			if round > 0 {
				if err := credential.Current(t.Context(), d, k.Hash()); !errors.Is(err, credential.ErrBehind) {
					t.Fatalf("round %d: Current: %v, want ErrBehind", round, err)
				}
				if n, err := credential.Migrate(t.Context(), d, k, now); err != nil || n != len(want) {
					t.Fatalf("round %d: Migrate: %d, %v, want %d", round, n, err, len(want))
				}
			}
			if err := credential.Current(t.Context(), d, k.Hash()); err != nil {
				t.Fatalf("round %d: Current after Migrate: %v", round, err)
			}
			if n, err := credential.Migrate(t.Context(), d, k, now); err != nil || n != 0 {
				t.Errorf("round %d: a second Migrate: %d, %v, want none", round, n, err)
			}
			for id, plain := range want {
				if got, hash := opened(t, d, id, k); got != plain || hash != k.Hash() {
					t.Errorf("round %d: credential %s is %.20q under %s, want %.20q under %s", round, id, got, hash, plain, k.Hash())
				}
			}
			if err := fernet.Rotate(dir, 3, owner); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestMigrateUnreadable: what no key opens stays, the rest is done.
func TestMigrateUnreadable(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		dir, other := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "other")
		for _, dir := range []string{dir, other} {
			if err := fernet.Setup(dir, owner); err != nil {
				t.Fatal(err)
			}
		}
		k, stranger := ring(t, dir), ring(t, other)
		store(t, d, "a-lost", "x", stranger)
		store(t, d, "good", "x", k)
		if err := fernet.Rotate(dir, 3, owner); err != nil {
			t.Fatal(err)
		}
		k = ring(t, dir)
		n, err := credential.Migrate(t.Context(), d, k, now)
		lost, ok := errors.AsType[*credential.Unreadable](err)
		if n != 1 || !ok || len(lost.IDs) != 1 || lost.IDs[0] != "a-lost" {
			t.Errorf("Migrate: %d, %v, want 1 and a-lost named", n, err)
		}
		if got, hash := opened(t, d, "a-lost", stranger); got != "x" || hash != stranger.Hash() {
			t.Errorf("the unreadable credential was changed: %q under %s", got, hash)
		}
		if got, hash := opened(t, d, "good", k); got != "x" || hash != k.Hash() {
			t.Errorf("the readable credential: %q under %s", got, hash)
		}
	})
}

// changing has somebody else write while a blob is being opened.
type changing struct {
	fernet.Ring
	write func()
}

func (c changing) Open(text string) ([]byte, error) {
	c.write()
	return c.Ring.Open(text)
}

// TestMigrateMeanwhile: a change during the migration is not undone by it.
func TestMigrateMeanwhile(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		dir := filepath.Join(t.TempDir(), "keys")
		if err := fernet.Setup(dir, owner); err != nil {
			t.Fatal(err)
		}
		store(t, d, "a", "old", ring(t, dir))
		if err := fernet.Rotate(dir, 3, owner); err != nil {
			t.Fatal(err)
		}
		k := ring(t, dir)
		n, err := credential.Migrate(t.Context(), d, changing{k, func() {
			blob, err := k.Seal([]byte("new"), now())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Exec(context.WithoutCancel(t.Context()), `update credential set encrypted_blob = $1, key_hash = $2`, blob, k.Hash()); err != nil {
				t.Fatal(err)
			}
		}}, now)
		if err != nil || n != 0 {
			t.Errorf("Migrate: %d, %v, want none", n, err)
		}
		if got, _ := opened(t, d, "a", k); got != "new" {
			t.Errorf("the change meanwhile was undone: %q", got)
		}
	})
}
