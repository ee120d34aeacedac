package conf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestReadRaw: the dialect is that of keystone.conf; names and dollars stay.
func TestReadRaw(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keystone.X.conf")
	text := "# c\n[LDAP]\nUrl = 'a$b'\n[ldap]\nurl = one\n  two # no comment\nurl = three\nuser:\n[none]\n[LDAP]\nmore = $$\nUrl = again\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := conf.ReadRaw(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []conf.RawSection{
		{Name: "LDAP", Options: []conf.RawOption{{Name: "Url", Value: "a$b"}, {Name: "more", Value: "$$"}}},
		{Name: "ldap", Options: []conf.RawOption{{Name: "url", Value: "one\ntwo # no comment"}, {Name: "user"}}},
		{Name: "none"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestReadRawRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, x := range map[string]struct{ text, says string }{
		"line":    {"[a]\nb = 1\nrubbish", "line:3: expected a [section]"},
		"above":   {"b = 1", "above:1: the option stands before any section"},
		"two":     {"[a]\nx\n[b", "two:2: "},
		"missing": {"", "missing: cannot read the file: "},
	} {
		file := filepath.Join(dir, name)
		if name != "missing" {
			if err := os.WriteFile(file, []byte(x.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := conf.ReadRaw(file); err == nil || got != nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: got %v, %v, want %s", name, got, err, x.says)
		}
	}
}
