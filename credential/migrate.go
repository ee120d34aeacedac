// Package credential keeps stored credentials encrypted under the keys of
// [credential] key_repository (keystone/credential).
package credential

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Keys encrypt and decrypt what is stored: fernet.Ring.
type Keys interface {
	Hash() string // of the key that seals
	Seal(payload []byte, at time.Time) (string, error)
	Open(text string) ([]byte, error)
}

// Sealed is a stored credential as the database has it.
type Sealed struct{ ID, Blob, KeyHash string }

// NotUnder lists the credentials that are not encrypted under the key with the
// hash.
func NotUnder(keyHash string) db.Query[Sealed] {
	return db.Query[Sealed]{
		Text: `select id, encrypted_blob, key_hash
from credential
where key_hash <> $1
order by id`,
		Args: []any{keyHash},
		Scan: func(r db.Row) (Sealed, error) {
			var s Sealed
			err := r.Scan(&s.ID, &s.Blob, &s.KeyHash)
			return s, err
		},
	}
}

// Unreadable are the credentials that no key opens.
type Unreadable struct{ IDs []string }

// Error names the credentials.
func (e *Unreadable) Error() string {
	return fmt.Sprintf("%d credentials cannot be decrypted with any key of the repository: %s", len(e.IDs), strings.Join(e.IDs, ", "))
}

const reseal = `update credential
set encrypted_blob = $1, key_hash = $2
where id = $3 and encrypted_blob = $4`

// Migrate encrypts under the primary key what is not (credential_migrate in
// keystone/cmd/cli.py), and gives how many it was. One that no key opens stays
// as it is; the others are done all the same, and the error is an Unreadable.
// One that is changed meanwhile is encrypted by who changes it.
func Migrate(ctx context.Context, d db.DB, k Keys, now func() time.Time) (int, error) {
	list, err := db.All(ctx, d, NotUnder(k.Hash()))
	if err != nil {
		return 0, fmt.Errorf("list credentials: %w", err)
	}
	done, lost := 0, &Unreadable{}
	for _, s := range list {
		plain, err := k.Open(s.Blob)
		if err != nil {
			lost.IDs = append(lost.IDs, s.ID)
			continue
		}
		text, err := k.Seal(plain, now())
		if err != nil {
			return done, err
		}
		n, err := d.Exec(ctx, reseal, text, k.Hash(), s.ID, s.Blob)
		if err != nil {
			return done, fmt.Errorf("encrypt credential %s anew: %w", s.ID, err)
		}
		done += int(n)
	}
	if len(lost.IDs) > 0 {
		return done, lost
	}
	return done, nil
}

// ErrBehind is Current's answer where a credential is not under the key.
var ErrBehind = errors.New("not all credentials are encrypted with the primary key")

// Current checks that every credential is encrypted under the key with the
// hash: only then may the keys be rotated, lest one that is still needed go.
func Current(ctx context.Context, c db.Conn, keyHash string) error {
	list, err := db.All(ctx, c, NotUnder(keyHash))
	if err != nil {
		return fmt.Errorf("list credentials: %w", err)
	}
	if len(list) > 0 {
		return ErrBehind
	}
	return nil
}
