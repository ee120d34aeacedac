package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

const twoKeys = `. drwx------
0 -rw------- 44
1 -rw------- 44`

func TestKeyFolders(t *testing.T) {
	p := newPlace(t, "[fernet_tokens]", "max_active_keys = 2", "[fernet_receipts]", "key_repository = "+t.TempDir()+"/receipt-keys")
	receipts := strings.TrimSpace(strings.SplitN(strings.SplitN(p.must(t, "config", "show").out, "[fernet_receipts]\nkey_repository = ", 2)[1], "#", 2)[0])
	tokens, credentials := filepath.Join(p.dir, "fernet-keys"), filepath.Join(p.dir, "credential-keys")
	check := func(what, dir, want string) {
		t.Helper()
		if got := files(t, dir); got != want {
			t.Errorf("after %s, %s holds\n%s\nwant\n%s", what, dir, got, want)
		}
	}
	absent := func(what, dir string) {
		t.Helper()
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s made %s", what, dir)
		}
	}
	p.run(t, "fernet_rotate").expect(t, "fernet_rotate before the setup", 1, "", "keystone-go: ")
	absent("fernet_rotate", tokens)
	p.must(t, "token_setup").expect(t, "token_setup", 0, "", "")
	check("token_setup", tokens, twoKeys)
	absent("token_setup", receipts)
	p.must(t, "fernet_setup").expect(t, "fernet_setup", 0, "", "Key repository is already initialized")
	check("fernet_setup", receipts, twoKeys)
	first, _ := os.ReadFile(tokens + "/0")
	p.must(t, "fernet_setup", "--keystone-user", me(t).Username)
	if again, _ := os.ReadFile(tokens + "/0"); string(again) != string(first) {
		t.Error("a second fernet_setup changed a key")
	}
	p.must(t, "fernet_rotate").expect(t, "fernet_rotate", 0, "", "")
	check("fernet_rotate", tokens, strings.Replace(twoKeys, "\n1 ", "\n2 ", 1))
	check("fernet_rotate", receipts, twoKeys+"\n2 -rw------- 44")
	if primary, _ := os.ReadFile(tokens + "/2"); string(primary) != string(first) {
		t.Error("the staged key did not become the primary one")
	}
	p.must(t, "receipt_rotate")
	check("receipt_rotate", receipts, strings.Replace(twoKeys, "\n1 ", "\n2 ", 1)+"\n3 -rw------- 44")
	p.must(t, "token_rotate")
	check("token_rotate", tokens, strings.Replace(twoKeys, "\n1 ", "\n3 ", 1))
	p.must(t, "receipt_setup")
	absent("the other setups", credentials)
	p.must(t, "credential_setup").expect(t, "credential_setup", 0, "", "")
	check("credential_setup", credentials, twoKeys)
}

// TestOneFolderForBoth rotates it once, by the tokens' number.
func TestOneFolderForBoth(t *testing.T) {
	p := newPlace(t, "[fernet_receipts]", "max_active_keys = 1")
	p.run(t, "fernet_setup").expect(t, "fernet_setup", 0, "", "[fernet_receipts] max_active_keys is not looked at")
	p.must(t, "fernet_rotate")
	if got := files(t, p.dir+"/fernet-keys"); got != twoKeys+"\n2 -rw------- 44" {
		t.Errorf("got\n%s", got)
	}
}

func me(t *testing.T) *user.User {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOwners(t *testing.T) {
	u := me(t)
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"fernet_setup", "fernet_rotate", "token_setup", "receipt_rotate", "credential_setup"} {
		p := newPlace(t)
		root := call{root: true}
		for _, owner := range [][]string{nil, {"--keystone-user", u.Username}, {"--keystone-group", g.Name}} {
			r := root.run(t, append([]string{"--config-file", p.conf, verb}, owner...)...)
			r.expect(t, verb+" as root", 2, "", "root needs --keystone-user and --keystone-group")
		}
		r := root.run(t, "--config-file", p.conf, verb, "--keystone-user", "nobody-of-that-name", "--keystone-group", g.Name)
		r.expect(t, verb, 1, "", `keystone-go: --keystone-user: there is no user "nobody-of-that-name"`+"\n")
		r = root.run(t, "--config-file", p.conf, verb, "--keystone-user", u.Username, "--keystone-group", "no-such-group")
		r.expect(t, verb, 1, "", `keystone-go: --keystone-group: there is no group "no-such-group"`+"\n")
		if entries, _ := os.ReadDir(p.dir); len(entries) != 1 {
			t.Errorf("%s left something behind: %s", verb, files(t, p.dir))
		}
	}
	p := newPlace(t)
	r := call{root: true}.run(t, "--config-file", p.conf, "fernet_setup", "--keystone-user="+u.Username, "--keystone-group="+g.Name)
	r.expect(t, "fernet_setup as root", 0, "", "")
}

// TestKeyFolderThatCannotBeMade: one line, and nothing half made.
func TestKeyFolderThatCannotBeMade(t *testing.T) {
	p := newPlace(t, "[fernet_tokens]", "key_repository = "+os.DevNull+"/keys", "[fernet_receipts]", "key_repository = "+os.DevNull+"/keys")
	r := p.run(t, "fernet_setup")
	r.expect(t, "fernet_setup", 1, "", "keystone-go: set up key folder: ")
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("stderr: %q, want one line", r.err)
	}
	if os.Geteuid() == 0 {
		return // root writes everywhere
	}
	p = newPlace(t)
	p.must(t, "fernet_setup")
	keys := p.dir + "/fernet-keys"
	before := files(t, keys)
	if err := os.Chmod(keys, 0o500); err != nil {
		t.Fatal(err)
	}
	p.run(t, "fernet_rotate").expect(t, "fernet_rotate", 1, "", "permission denied")
	if err := os.Chmod(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	if after := files(t, keys); after != before {
		t.Errorf("a failed rotation changed the folder to\n%s", after)
	}
}
