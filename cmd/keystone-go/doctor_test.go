package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/dbtest"
)

// healthy is a place with which keystone-manage doctor is content, in the form
// of lines for a keystone.conf: the later of two lines counts.
func healthy(t *testing.T) (p place, lines []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p = newPlace(t,
		"[database]", "connection = postgresql://nobody@127.0.0.1:1/none",
		"[cache]", "enabled = true", "backend = oslo_cache.memcache_pool", "memcache_servers = "+l.Addr().String(),
	)
	p.must(t, "fernet_setup")
	p.must(t, "credential_setup")
	return p, nil
}

// with gives the place another configuration.
func (p place) with(t *testing.T, more ...string) place {
	t.Helper()
	text, err := os.ReadFile(p.conf)
	if err != nil {
		t.Fatal(err)
	}
	other := place{p.dir, filepath.Join(t.TempDir(), "keystone.conf")}
	if err := os.WriteFile(other.conf, append(text, (strings.Join(more, "\n")+"\n")...), 0o600); err != nil {
		t.Fatal(err)
	}
	return other
}

// TestDoctorAsManage: each of keystone-manage's checks, alone, makes the exit
// code 1; nothing else does.
func TestDoctorAsManage(t *testing.T) {
	p, _ := healthy(t)
	domains := filepath.Join(t.TempDir(), "domains")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(domains, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(domains, 0o700); err != nil {
		t.Fatal(err)
	}
	write("keystone.One.conf", "[ldap]\nurl = ldap://x\n")
	perDomain := []string{"[identity]", "domain_specific_drivers_enabled = true", "domain_config_dir = " + domains}
	as := call{as: "/usr/bin/keystone-manage"}
	check := func(what string, titles []string, more ...string) {
		t.Helper()
		r := as.run(t, "--config-file", p.with(t, more...).conf, "doctor")
		code := 0
		if len(titles) > 0 {
			code = 1
		}
		if r.code != code {
			t.Errorf("%s: exit code %d, want %d", what, r.code, code)
		}
		if n := strings.Count(r.out, "\nWARNING: "); n != len(titles) {
			t.Errorf("%s: %d warnings, want %d", what, n, len(titles))
		}
		for _, title := range titles {
			if !strings.Contains(r.out, "\nWARNING: "+title+"\n\n    ") {
				t.Errorf("%s: no warning %q in\n%s", what, title, r.out)
			}
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	check("nothing wrong", nil)
	check("per domain", nil, perDomain...)
	check("ours alone", nil, "[token]", "expirations = 1", "[identity]", "driver = ldap", "[revoke]", "expiration_buffer = 0", "[token]", "expiration = 5")
	for title, more := range map[string][]string{
		"[cache] enabled is off.":                                                   {"[cache]", "enabled = false"},
		"[cache] backend is not set.":                                               {"[cache]", "backend = dogpile.cache.null"},
		"A memcached server does not answer.":                                       {"[cache]", "memcache_servers = 127.0.0.1:1"},
		"Credentials and tokens share their keys.":                                  {"[credential]", "key_repository = " + p.dir + "/fernet-keys"},
		"The database is SQLite.":                                                   {"[database]", "connection = sqlite:////x"},
		"[saml] keyfile has a comma in its path.":                                   {"[saml]", "keyfile = /a,b"},
		"[saml] certfile has a comma in its path.":                                  {"[saml]", "certfile = /a,b"},
		"[ldap] group_members_are_ids is off.":                                      {"[ldap]", "group_objectclass = posixGroup"},
		"[ldap] user_enabled_emulation_dn has no effect.":                           {"[ldap]", "user_enabled_emulation_dn ="},
		"[ldap] user_enabled_emulation_use_group_config has no effect.":             {"[ldap]", "user_enabled_emulation_use_group_config = true"},
		"[security_compliance] password_regex is no regular expression.":            {"[security_compliance]", "password_regex = (", "password_regex_description = x"},
		"A password may not be changed before it expires.":                          {"[security_compliance]", "minimum_password_age = 3", "password_expires_days = 3"},
		"[security_compliance] password_regex_description is not set.":              {"[security_compliance]", "password_regex = x"},
		"[DEFAULT] max_token_size is more than Fernet tokens need.":                 {"[DEFAULT]", "max_token_size = 256"},
		"[DEFAULT] debug is on.":                                                    {"[DEFAULT]", "debug = true"},
		"The folder of the domains' configurations is missing, or has other files.": append([]string{"[identity]", "domain_specific_drivers_enabled = true"}, "domain_config_dir = "+none),
	} {
		check(title, []string{title}, more...)
	}
	check("no keys", []string{"[fernet_tokens] key_repository holds no key.", "[fernet_tokens] key_repository cannot be used."}, "[fernet_tokens]", "key_repository = "+none)
	check("no keys of credentials", []string{"[credential] key_repository holds no key.", "[credential] key_repository cannot be used."}, "[credential]", "key_repository = "+none)
	check("JWS needs no Fernet keys", nil, "[fernet_tokens]", "key_repository = "+none, "[token]", "provider = jws", "[DEFAULT]", "max_token_size = 999")
	check("in the database", nil, append(perDomain, "domain_configurations_from_database = true", "domain_config_dir = "+none)...)
	check("a young password may expire", nil, "[security_compliance]", "minimum_password_age = 3")
	write("notes.txt", "")
	check("a strange file", []string{"The folder of the domains' configurations is missing, or has other files."}, perDomain...)
	os.Remove(filepath.Join(domains, "notes.txt"))
	write("keystone.Two.conf", "url = ldap://x\n")
	check("a broken file", []string{"A domain's configuration cannot be read."}, perDomain...)
}

// TestINI: each text was read with Python's configparser.
func TestINI(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "[a]\nb=1\n": true, "b=1\n": false, "[a]\nb\n": false, "[a]\nb=1\nB=2\n": false, "[a]\n[a]\n": false,
		"[DEFAULT]\nx=1\n[DEFAULT]\ny=2\n": true, "[DEFAULT]\nx=1\n[DEFAULT]\nx=2\n": false, "[a]\n = 1\n": false,
		"[a]\nb=1\n  more\n": true, "[a]\n  b=1\n  c=2\n": true, "[a]\nb=1\n\n  more\nc=2": true, "[a] trailing\nb=1": true,
		"[]\nb=1": false, "[a\nb=1": false, "# c\n; c\n[a]\n#x\nb : 1": true, "[a]\nb=1\n   # comment\n  x\n": true,
		"[a]\n\tb=1\n c=2\n": true, "  [a]\nb=1": true, "[a]\n[b]\nb=1\n[c]\nb=1": true, "[a]\nb=1\nc\n": false,
		"[a]\nb=%(x)s": true, "[a]\nb=1\n  [c]\n  [c]\n": true, "[a]x=1\n[a]y": false, "\ufeff[a]\nb=1": false,
		"[a]\nb=\n  c\n  d = 1\n": true, "[a]\r\nb = 1\r\n": true,
	} {
		if got := isINI(text); got != want {
			t.Errorf("isINI(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestDoctorOwn: our checks count as keystone-go, and are notes as
// keystone-manage.
func TestDoctorOwn(t *testing.T) {
	p, _ := healthy(t)
	url := dbtest.OpenURL(t, "postgres")
	connection := []string{"[database]", "connection = " + strings.ReplaceAll(url, "$", "$$"), "[identity]", "password_hash_algorithm = scrypt"}
	doctor := func(more ...string) result {
		t.Helper()
		return call{}.run(t, "--config-file", p.with(t, append(connection, more...)...).conf, "doctor")
	}
	const limits = "\nNOTE: Rate limits: no rate limit is on"
	doctor().expect(t, "a sound installation", 0, limits, "")
	for what, x := range map[string]struct {
		code int
		says string
		more []string
	}{
		"an unknown option":       {1, "WARNING: CONF:", []string{"[token]", "expirations = 1"}},
		"the name meant":          {1, "Did you mean [token] expiration?", []string{"[token]", "expirations = 1"}},
		"another driver":          {1, "[identity] driver = ldap is not served", []string{"[identity]", "driver = ldap"}},
		"another method":          {1, "[auth] methods names methods that are not served: openid.", []string{"[auth]", "methods = password,openid"}},
		"a short memory":          {1, "WARNING: Revocations are forgotten after 90 seconds.", []string{"[token]", "expiration = 60", "[revoke]", "expiration_buffer = 30"}},
		"a broken policy":         {1, "WARNING: The policy files cannot be read.", []string{"[oslo_policy]", "policy_file = " + p.conf}},
		"argon2":                  {0, "NOTE: New passwords are hashed with argon2id.", []string{"[keystone_go]", "password_hash_algorithm = argon2id"}},
		"bcrypt":                  {0, "NOTE: Passwords may have 4096 bytes, and bcrypt looks at the first 72.", []string{"[identity]", "password_hash_algorithm = bcrypt"}},
		"a database that is away": {1, "WARNING: The database cannot be asked.", []string{"[database]", "connection = postgresql://nobody@127.0.0.1:1/none"}},
	} {
		r := doctor(x.more...)
		r.out = strings.ReplaceAll(r.out, "/keystone.conf:", "CONF:")
		if i := strings.Index(r.out, "WARNING: /"); i >= 0 {
			r.out = r.out[:i] + "WARNING: CONF:" + r.out[strings.Index(r.out[i:], "CONF:")+i+5:]
		}
		r.expect(t, what, x.code, x.says, "")
		if strings.Contains(r.out, "nobody@") {
			t.Errorf("%s: shows the database's URL:\n%s", what, r.out)
		}
	}
	r := call{as: manageName}.run(t, "--config-file", p.with(t, append(connection, "[token]", "expirations = 1")...).conf, "doctor")
	r.expect(t, "as keystone-manage", 0, "\nNOTE: ", "")
	if strings.Contains(r.out, "WARNING") {
		t.Errorf("as keystone-manage ours are warnings:\n%s", r.out)
	}
}

// TestDoctorSchema: a database without a schema, and argon2 hashes in one that
// has it.
func TestDoctorSchema(t *testing.T) {
	p := newPlace(t)
	p.run(t, "doctor").expect(t, "no database", 1, "WARNING: The database cannot be asked.\n\n    the database ", "")
	if _, err := os.Stat(p.dir + "/keystone.db"); err == nil {
		t.Error("doctor made a database")
	}
	p.must(t, "db_sync", "--expand")
	p.run(t, "doctor").expect(t, "expanded", 1, "NOTE: The database schema is expanded and not contracted.", "")
	p.must(t, "db_sync")
	p.must(t, "bootstrap", "--bootstrap-password", "x")
	p.exec(t, `insert into password (local_user_id, self_service, password_hash, created_at_int, created_at) select id, $1, '$argon2id$x', 1, $2 from local_user`, false, time.Now())
	p.run(t, "doctor").expect(t, "argon2", 1, "NOTE: 1 passwords are hashed with argon2.", "")
}
