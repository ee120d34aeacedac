package fernet_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

const null = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func vault(t *testing.T, dir string, now func() time.Time) *fernet.Vault {
	t.Helper()
	v, err := fernet.OpenVault(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// under checks which key a vault seals with.
func under(t *testing.T, v *fernet.Vault, keyText string) (sealed string) {
	t.Helper()
	sealed, hash, err := v.Seal([]byte("blob"))
	if err != nil || len(sealed)%4 != 0 {
		t.Fatalf("Seal: %q, %v, want padded text", sealed, err)
	}
	if want := parse(t, keyText); hash != want.Hash() {
		t.Errorf("the hash is %s, want %s", hash, want.Hash())
	} else if got, _, err := want.Open(sealed); err != nil || string(got) != "blob" {
		t.Errorf("under the key: %q, %v", got, err)
	}
	return sealed
}

// A vault begins without keys, takes those that come, and follows a rotation.
func TestVault(t *testing.T) {
	var c clock
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault(t, dir, c.Now)
	first := under(t, v, null)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	under(t, v, null)
	if !v.Keyless() {
		t.Error("an empty folder has keys")
	}
	write(t, dir, "0", key(1))
	write(t, dir, "1", key(2))
	second := under(t, v, key(2))
	if v.Keyless() {
		t.Error("there are keys, and they are not taken")
	}
	// A key that another server seals with is found when it is met.
	write(t, dir, "2", key(3))
	theirs, err := fernet.OpenVault(dir, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	third := under(t, theirs, key(3))
	for _, sealed := range []string{first, second, third} {
		if got, err := v.Open(sealed); err != nil || string(got) != "blob" {
			t.Errorf("Open: %q, %v", got, err)
		}
	}
	c.forward(2 * time.Second)
	under(t, v, key(3))
	// Keys that are gone stay in use: the null key is no way back.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.forward(2 * time.Second)
	under(t, v, key(3))
	if _, err := v.Open(seal(t, key(4))); !errors.Is(err, fernet.ErrInvalid) {
		t.Errorf("a key of nobody's: %v", err)
	}
}

// What is no key is no reason to take the null key.
func TestVaultBroken(t *testing.T) {
	var c clock
	dir := folder(t, map[string]string{"0": "half a k"})
	if _, err := fernet.OpenVault(dir, c.Now); err == nil {
		t.Error("half a key gave a vault")
	}
}
