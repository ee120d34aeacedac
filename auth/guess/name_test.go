package guess_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/auth/guess"
)

// TestFold: RL-K09 to K11, and the order of the steps: an @ at the end goes
// last, so also one that a compatibility form hid.
func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"alice": "alice", "ALICE": "alice", "ａｌｉｃｅ": "alice", "Alice@": "alice", "alice＠": "alice", "alice@@": "alice",
		"alice@x": "alice@x", "@alice": "@alice", "@": "", "": "",
		"straße": "strasse", "STRASSE": "strasse", "ﬁn": "fin", "Ⅳ": "iv",
		"\u0430lice": "\u0430lice", // Cyrillic
		"e\u0301":    "\u00e9", "\u00c9": "\u00e9",
		"\u03a3\u03b1\u03c2": "\u03c3\u03b1\u03c3", // a sigma at the end is one
		"a\x00b":             "a\x00b",
	} {
		if got := guess.Fold(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestFoldEveryLetter: all the cases of a letter have one form, which stays.
func TestFoldEveryLetter(t *testing.T) {
	for r := range unicode.MaxRune {
		once := guess.Fold(string(r))
		if twice := guess.Fold(once); twice != once {
			t.Errorf("%U: %q, then %q", r, once, twice)
		}
		if other := unicode.SimpleFold(r); guess.Fold(string(other)) != once {
			t.Errorf("%U is %q, %U is %q", r, once, other, guess.Fold(string(other)))
		}
	}
}

// FuzzFold: folding again changes nothing, and nothing makes it panic.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"Alice@", "straße", "\u0345\u0301", "\u1e9e", "\u0130", "\xff\xfe", "\ufdfa", "\u1fb7", "e\u0301@", "\u13b6"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := guess.Fold(s)
		if twice := guess.Fold(once); utf8.ValidString(s) && twice != once {
			t.Errorf("%q: %q, then %q", s, once, twice)
		}
	})
}

// TestKeys: what is not the same is not one key, however it is spelt.
func TestKeys(t *testing.T) {
	seen := map[string]string{}
	for what, key := range map[string]string{
		"an id":                    "bob",
		"a name":                   guess.Name("default", "bob"),
		"in another domain":        guess.Name("other", "bob"),
		"in no domain":             guess.Homeless("default", "bob"),
		"in none of another name":  guess.Homeless("other", "bob"),
		"the parts put otherwise":  guess.Name("defaultb", "ob"),
		"the parts in no domain":   guess.Homeless("defaultb", "ob"),
		"a name that is an id too": guess.Name("", "bob"),
	} {
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s are one key", what, other)
		}
		seen[key] = what
	}
	if guess.Name("default", "Bob@") != guess.Name("default", "bob") || guess.Homeless("ACME", "Bob") != guess.Homeless("acme", "bob") {
		t.Error("spellings of one name are several keys")
	}
}
