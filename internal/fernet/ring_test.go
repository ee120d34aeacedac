package fernet_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

// TestRing seals under the primary key and opens under each, the null key
// included.
func TestRing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if _, err := fernet.ReadRing(dir); err == nil {
		t.Error("a folder that is not there gives keys")
	}
	if err := fernet.Setup(dir, fernet.Owner{UID: -1, GID: -1}); err != nil {
		t.Fatal(err)
	}
	first, err := fernet.ReadRing(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{"", "a", strings.Repeat("b", 15), strings.Repeat("c", 16), strings.Repeat("d", 1000)} {
		text, err := first.Seal([]byte(payload), time.Unix(1e9, 0))
		if err != nil || len(text)%4 != 0 {
			t.Fatalf("Seal of %d bytes: %d characters, %v, want whole groups of four", len(payload), len(text), err)
		}
		if got, err := first.Open(text); err != nil || string(got) != payload {
			t.Errorf("Open: got %q, %v, want %q", got, err, payload)
		}
	}
	before, _ := first.Seal([]byte("x"), time.Unix(1e9, 0))
	if err := fernet.Rotate(dir, 3, fernet.Owner{UID: -1, GID: -1}); err != nil {
		t.Fatal(err)
	}
	second, err := fernet.ReadRing(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "2"))
	if want := parse(t, string(text)).Hash(); second.Hash() != want || first.Hash() == want {
		t.Errorf("Hash: %s, then %s, want %s then", first.Hash(), second.Hash(), want)
	}
	null := parse(t, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").Seal([]byte("x"), [16]byte{}, time.Unix(1e9, 0))
	for _, text := range []string{before, null} {
		if got, err := second.Open(text); err != nil || string(got) != "x" {
			t.Errorf("Open after a rotation: got %q, %v", got, err)
		}
	}
	if _, err := second.Open("rubbish"); !errors.Is(err, fernet.ErrInvalid) {
		t.Errorf("rubbish: got %v, want ErrInvalid", err)
	}
}
