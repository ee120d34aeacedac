package main

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

// open opens the database of the place.
func (p place) open(t *testing.T) db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: "sqlite:///" + p.dir + "/keystone.db"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func (p place) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := p.open(t).Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// texts reads one column of text in the order of the statement, between commas.
func (p place) texts(t *testing.T, text string) string {
	t.Helper()
	list, err := db.All(t.Context(), p.open(t), db.Query[string]{Text: text, Scan: func(r db.Row) (string, error) {
		var s string
		err := r.Scan(&s)
		return s, err
	}})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Join(list, ",")
}

// TestCredentialKeys goes through the cycle of rotate and migrate.
func TestCredentialKeys(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.run(t, "credential_rotate").expect(t, "rotate before the setup", 1, "", "[credential] key_repository: ")
	p.run(t, "credential_migrate").expect(t, "migrate before the setup", 1, "", "[credential] key_repository: ")
	p.must(t, "credential_setup")
	keys := p.dir + "/credential-keys"
	ring, err := fernet.ReadRing(keys)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := ring.Seal([]byte("{}"), time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	p.exec(t, `insert into credential (id, user_id, type, extra, key_hash, encrypted_blob) values ('c', 'u', 'cert', '{}', $1, $2)`, ring.Hash(), blob)
	p.must(t, "credential_rotate")
	before := files(t, keys)
	p.run(t, "credential_rotate").expect(t, "rotate before migrate", 1, "", "run credential_migrate first")
	if after := files(t, keys); after != before {
		t.Errorf("a rotation that was refused changed the keys to\n%s", after)
	}
	p.run(t, "credential_migrate").expect(t, "credential_migrate", 0, "", "primary key count=1")
	p.run(t, "credential_migrate").expect(t, "credential_migrate again", 0, "", "primary key count=0")
	p.must(t, "credential_rotate")
	if got := files(t, keys); got != strings.Replace(twoKeys, "\n1 ", "\n2 ", 1)+"\n3 -rw------- 44" {
		t.Errorf("after two rotations:\n%s", got)
	}
	now, _ := fernet.ReadRing(keys)
	if got, err := now.Open(p.texts(t, `select encrypted_blob from credential`)); err != nil || string(got) != "{}" {
		t.Errorf("the credential: %q, %v", got, err)
	}
}

func TestKeyPair(t *testing.T) {
	for _, algorithm := range []string{"ES256", "ES384", "ES512", "EdDSA"} {
		p := newPlace(t, "[jwt_tokens]", "jws_algorithm = "+algorithm)
		t.Chdir(t.TempDir())
		p.must(t, "create_jws_keypair")
		private, _ := os.ReadFile(privateFile)
		public, _ := os.ReadFile(publicFile)
		block, _ := pem.Decode(private)
		open, _ := pem.Decode(public)
		if block == nil || open == nil || block.Type != "PRIVATE KEY" || open.Type != "PUBLIC KEY" {
			t.Fatalf("%s: got\n%s%s", algorithm, private, public)
		}
		if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
		if _, err := x509.ParsePKIXPublicKey(open.Bytes); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
		list, err := os.ReadDir(".")
		if err != nil || len(list) != 2 {
			t.Errorf("%s: files: %v, %v", algorithm, list, err)
		}
		for name, mode := range map[string]os.FileMode{privateFile: 0o600, publicFile: 0o644} {
			if info, err := os.Stat(name); err != nil || info.Mode() != mode {
				t.Errorf("%s: %s has mode %v, want %v", algorithm, name, info.Mode(), mode)
			}
		}
		p.run(t, "create_jws_keypair").expect(t, "again", 1, "", "Private key ")
		os.Remove(privateFile)
		p.run(t, "create_jws_keypair").expect(t, "public alone", 1, "", "Public key ")
		p.must(t, "create_jws_keypair", "--force")
		if again, _ := os.ReadFile(publicFile); string(again) == string(public) {
			t.Errorf("%s: --force left the old pair", algorithm)
		}
	}
}

// TestKeyPairOwner: root has to say whose the keys become, and they do.
func TestKeyPairOwner(t *testing.T) {
	p := newPlace(t)
	t.Chdir(t.TempDir())
	root := call{root: true}
	root.run(t, "--config-file", p.conf, "create_jws_keypair").expect(t, "root without an owner", 2, "", "root needs --keystone-user and --keystone-group")
	if os.Geteuid() != 0 {
		return // who may give nothing away
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	r := root.run(t, "--config-file", p.conf, "create_jws_keypair", "--keystone-user", "nobody", "--keystone-group", u.Gid)
	r.expect(t, "root with an owner", 0, "", "")
	for _, name := range []string{privateFile, publicFile} {
		if uid, gid := ownerOf(t, name); uid != u.Uid || gid != u.Gid {
			t.Errorf("%s belongs to %s:%s, want %s:%s", name, uid, gid, u.Uid, u.Gid)
		}
	}
}

func TestProjectSetup(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "x")
	p.run(t, "project_setup").expect(t, "without a name", 2, "", "--project-name is required")
	p.run(t, "project_setup", "--project-name", "one", "--project-id", "0123").expect(t, "with an id", 0, "", "Created project one\n")
	p.run(t, "project_setup", "--project-name", "one", "--project-id", "4567").expect(t, "again", 0, "", "Project one already exists, skipping creation.\n")
	p.run(t, "project_setup", "--project-name", "two").expect(t, "without an id", 0, "", "Created project two\n")
	p.run(t, "project_setup", "--project-name", "three", "--project-id", "0123").expect(t, "with an id that is taken", 1, "", "keystone-go: ")
	if got := p.texts(t, `select name || ' ' || length(id) || ' ' || domain_id from project where name in ('one', 'two', 'three') order by name`); got != "one 4 default,two 32 default" {
		t.Errorf("projects: %s", got)
	}
}

func TestUserSetup(t *testing.T) {
	p := newPlace(t, "[security_compliance]", "password_regex = ^.{4,}$")
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "long enough")
	p.run(t, "user_setup", "--username", "u").expect(t, "without a password", 2, "", "--user-password-plain is required")
	p.run(t, "user_setup", "--username", "u", "--user-password-plain", "x").expect(t, "a weak password", 1, "", "keystone-go: ")
	p.run(t, "user_setup", "--username", "u", "--user-password-plain", "secret1", "--user-id", "abc").expect(t, "user_setup", 0, "", "Created user u\n")
	p.run(t, "user_setup", "--username", "u", "--user-password-plain", "secret2", "--user-id", "other").expect(t, "another id", 1, "", "already exists with `abc`")
	if !p.hasPassword(t, "u", "secret1") {
		t.Error("the password is not the one given")
	}
	p.exec(t, `update "user" set enabled = $1 where id = 'abc'`, false)
	r := p.run(t, "user_setup", "--username", "u", "--user-password-plain", "secret2")
	for _, want := range []string{"User u already exists, skipping creation.\n", "Reset password for user u.\n", "Enabled user u.\n"} {
		r.expect(t, "another password", 0, "", want)
	}
	if !p.hasPassword(t, "u", "secret2") || p.texts(t, `select id from "user" where enabled and id = 'abc'`) != "abc" {
		t.Error("the user is not enabled, or has not the new password")
	}
	if r := p.must(t, "user_setup", "--username", "u", "--user-password-plain", "secret2"); strings.Contains(r.err, "Reset") || strings.Contains(r.err, "secret2") {
		t.Errorf("the same password again: %s", r.err)
	}
	p.must(t, "user_setup", "--username", "v", "--user-password-plain", "secret3")
	if got := p.texts(t, `select length(user_id) || '' from local_user where name = 'v'`); got != "32" {
		t.Errorf("without an id: one of %s characters", got)
	}
}

func TestResetLastActive(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "x")
	seen := func() bool { return p.texts(t, `select id from "user" where last_active_at is null`) == "" }
	for _, no := range []string{"", "n\n", "no\n", "yep\n"} {
		r := call{stdin: no}.run(t, "--config-file", p.conf, "reset_last_active")
		r.expect(t, "answer "+no, 1, "[y/N]? ", "reset_last_active aborted\n")
		if seen() {
			t.Errorf("answer %q was taken for yes", no)
		}
	}
	call{stdin: "Y\r\n"}.run(t, "--config-file", p.conf, "reset_last_active").expect(t, "answer Y", 0, "[y/N]? ", "today count=1\n")
	if !seen() {
		t.Error("the user was not seen")
	}
	p.run(t, "reset_last_active", "--force").expect(t, "--force", 0, "", "today count=0\n")
}

func TestTrustFlush(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	for id, day := range map[string]int{"old": 1, "new": 3} {
		at := time.Date(2020, 2, day, 0, 0, 0, 0, time.UTC)
		p.exec(t, `insert into trust (id, trustor_user_id, trustee_user_id, impersonation, expires_at, expires_at_int) values ($1, $1, $1, $2, $3, $4)`, id, true, at, at.UnixMicro())
	}
	p.run(t, "trust_flush", "--date", "2020-02-02").expect(t, "a date in another form", 1, "", "is not a date in the form DD-MM-YYYY")
	p.run(t, "trust_flush", "--date", "02-02-2020").expect(t, "trust_flush --date", 0, "", "deleted count=1\n")
	if got := p.texts(t, `select id from trust`); got != "new" {
		t.Errorf("left: %s", got)
	}
	p.run(t, "trust_flush", "--project-id", "other").expect(t, "trust_flush of a project", 0, "", "deleted count=0\n")
	p.run(t, "trust_flush").expect(t, "trust_flush", 0, "", "deleted count=1\n")
}

func TestMappingPurge(t *testing.T) {
	p := newPlace(t)
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "x")
	for _, id := range []string{"a", "b", "c"} {
		p.exec(t, `insert into id_mapping (public_id, domain_id, local_id, entity_type) values ($1, $2, $1, 'user')`, id, map[bool]string{true: "default", false: "d"}[id == "a"])
	}
	p.run(t, "mapping_purge").expect(t, "nothing given", 1, "", "at least one option")
	p.run(t, "mapping_purge", "--all", "--type", "user").expect(t, "all and one", 1, "", "--all cannot stand with other options")
	p.run(t, "mapping_purge", "--type", "alien").expect(t, "a strange type", 2, "", `--type: "alien" is not known`)
	p.run(t, "mapping_purge", "--public-id", "").expect(t, "an empty value", 2, "", "--public-id is empty")
	p.run(t, "mapping_purge", "--domain-name", "nope").expect(t, "a strange domain", 1, "", `there is no domain "nope"`)
	p.run(t, "mapping_purge", "--domain-name", "Default").expect(t, "of a domain", 0, "", "purged count=1\n")
	p.run(t, "mapping_purge", "--local-id", "b").expect(t, "of an id", 0, "", "purged count=1\n")
	p.run(t, "mapping_purge", "--all").expect(t, "all", 0, "", "purged count=1\n")
}

// TestNotServedYet: a verb without its area fails and says why, whatever its
// flags.
func TestNotServedYet(t *testing.T) {
	for _, args := range [][]string{
		{"mapping_populate", "--domain-name", "x"},
		{"mapping_engine", "--rules", "r", "--input=i", "--engine-debug"},
		{"saml_idp_metadata"},
	} {
		call{as: "keystone-manage"}.run(t, args...).expect(t, args[0], 1, "", args[0]+" is not served yet")
	}
}

// TestWithoutDatabase: no verb makes a database but db_sync.
func TestWithoutDatabase(t *testing.T) {
	for _, args := range [][]string{
		{"credential_rotate"},
		{"credential_migrate"},
		{"project_setup", "--project-name", "x"},
		{"trust_flush"},
		{"mapping_purge", "--all"},
		{"domain_config_upload", "--all"},
		{"user_setup", "--username", "x", "--user-password-plain", "x"},
		{"reset_last_active", "--force"},
	} {
		p := newPlace(t)
		p.must(t, "credential_setup")
		p.run(t, args...).expect(t, args[0], 1, "", "does not exist: run db_sync")
		if _, err := os.Stat(filepath.Join(p.dir, "keystone.db")); err == nil {
			t.Errorf("%s made a database", args[0])
		}
	}
}
