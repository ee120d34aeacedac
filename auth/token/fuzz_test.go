package token_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth/token"
)

// FuzzDecode feeds payloads that decrypt, since nothing else gets past the
// signature. What decodes must survive being issued and decoded again.
// Fuzz with -fuzzminimizetime=20x: pooled buffers make the coverage waver, and
// minimizing an input would take the rest of the time.
func FuzzDecode(f *testing.F) {
	key := parseKey(f, vectorKey)
	provider := token.NewFernet(repository(f, vectorKey), listed, "default")
	f.Fuzz(func(t *testing.T, payload []byte) {
		text := key.Seal(payload, vectorIV, issued)
		if r, err := provider.DecodeReceipt(text); err == nil {
			if r.UserID == "" || r.ExpiresAt.IsZero() {
				t.Errorf("receipt with a part missing: %+v", r)
			}
		}
		first, err := provider.Decode(text)
		if err != nil {
			if first != nil || !errors.Is(err, token.ErrNotFound) {
				t.Fatalf("Decode: %+v, %v, want ErrNotFound", first, err)
			}
			return
		}
		if first.UserID == "" || len(first.AuditIDs) == 0 || first.ExpiresAt.Year() > 9999 {
			t.Fatalf("a part is missing: %+v", first)
		}
		// The first issue may bring ids into another form; after it nothing moves.
		second := reissue(t, provider, first)
		if second == nil {
			return
		}
		third := reissue(t, provider, second)
		if third == nil {
			t.Fatalf("cannot be issued twice: %+v", second)
		}
		second.IssuedAt, third.IssuedAt = issued, issued
		if diff := cmp.Diff(second, third); diff != "" {
			t.Errorf("does not survive (-second +third):\n%s", diff)
		}
	})
}

func reissue(t *testing.T, provider *token.Fernet, v *token.Token) *token.Token {
	t.Helper()
	again := *v
	text, err := provider.Issue(&again)
	if err != nil {
		return nil
	}
	got, err := provider.Decode(text)
	if err != nil {
		t.Fatalf("issued %+v, which does not decode: %v", v, err)
	}
	return got
}

// FuzzDecodeText feeds what a client may send for a token.
func FuzzDecodeText(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.text)
		f.Add(v.text + "=")
		f.Add(v.text[:len(v.text)-4])
	}
	for _, text := range []string{"", "gAAAAA", "rubbish", "a.b.c", "\x00", "gAAAAA\n", "=====", "ü"} {
		f.Add(text)
	}
	provider := token.NewFernet(repository(f, vectorKey), listed, "default")
	known := map[string]bool{}
	for _, v := range vectors {
		known[v.text] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := provider.Decode(text)
		if err == nil {
			for len(text) > 0 && text[len(text)-1] == '=' {
				text = text[:len(text)-1]
			}
			if !known[text] {
				t.Fatalf("a token was forged: %q", text)
			}
			return
		}
		if got != nil || !errors.Is(err, token.ErrNotFound) {
			t.Errorf("Decode(%q): %+v, %v, want ErrNotFound", text, got, err)
		}
	})
}
