package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigSample(t *testing.T) {
	want, err := os.ReadFile("../../etc/keystone.conf")
	if err != nil {
		t.Fatal(err)
	}
	r := call{}.run(t, "config", "sample")
	if r.code != 0 || r.out != string(want) || r.err != "" {
		t.Errorf("config sample: exit code %d, stderr %q; stdout equals etc/keystone.conf: %v", r.code, r.err, r.out == string(want))
	}
	file := filepath.Join(t.TempDir(), "sample.conf")
	call{}.run(t, "config", "sample", "-o", file).expect(t, "config sample -o", 0, "", "")
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("config sample -o: %v", err)
	}
}

func TestConfigCheck(t *testing.T) {
	p := newPlace(t, "[token]", "expirations = 5", "[cache]", "proxies = a", "[assignment]", "list_limit = 4")
	r := p.run(t, "config", "check")
	want := `read CONF
CONF:16: [token] expirations is not known; did you mean [token] expiration?
CONF:18: [cache] proxies has no effect in this server
CONF:20: [assignment] list_limit is an older name of [resource] list_limit
`
	if got := strings.ReplaceAll(r.out, p.conf, "CONF"); r.code != 0 || got != want {
		t.Errorf("config check: exit code %d\n%s\nwant\n%s", r.code, got, want)
	}
	bad := newPlace(t, "[token]", "expiration = soon", "[rate_limit_user_auth]", "enabled = true", "burst_size = 5")
	r = bad.run(t, "config", "check")
	want = `keystone-go: CONF:16: [token] expiration: "soon" is not a whole number; give a whole number of at least 0
keystone-go: CONF:18: [rate_limit_user_auth] replenish_rate_per_second: a number is needed while enabled is true; give a whole number from 1 to 100000
`
	if got := strings.ReplaceAll(r.err, bad.conf, "CONF"); r.code != 1 || got != want || r.out != "read "+bad.conf+"\n" {
		t.Errorf("config check of a bad file: exit code %d\n%s\nwant\n%s", r.code, got, want)
	}
}

// TestConfigShow shows values with their origin, and no secret.
func TestConfigShow(t *testing.T) {
	p := newPlace(t, "[DEFAULT]", "admin_token = hunter2")
	r := p.run(t, "config", "show")
	for _, want := range []string{
		"[token]\nexpiration = 3600  # default\n",
		"password_hash_rounds = 4  # " + p.conf + ":11\n",
		"admin_token = ****  # " + p.conf + ":16\n",
		"connection = ****  # " + p.conf + ":3\n",
		"lockout_failure_attempts = <unset>  # default\n",
	} {
		r.expect(t, "config show", 0, want, "")
	}
	if strings.Contains(r.out, "hunter2") {
		t.Error("config show prints a secret")
	}
}

// TestConfigShowGiven leaves defaults out, shows what a file names itself, and
// goes on where something is wrong.
func TestConfigShowGiven(t *testing.T) {
	p := newPlace(t, "[auth]", "methods = password,", "  openid", "openid = mapped", "[openid]", "remote_id_attribute = HTTP_OIDC_ISS", "[token]", "expiration = soon")
	r := call{env: []string{"OS_TOTP__INCLUDED_PREVIOUS_WINDOWS=2"}}.run(t, "--config-file", p.conf, "config", "show", "--given")
	for _, want := range []string{
		"methods = password,openid  # " + p.conf + ":16\n",
		"[auth]\nopenid = mapped  # " + p.conf + ":18\n[openid]\nremote_id_attribute = HTTP_OIDC_ISS  # " + p.conf + ":20\n",
		"included_previous_windows = 2  # OS_TOTP__INCLUDED_PREVIOUS_WINDOWS\n",
	} {
		r.expect(t, "config show --given", 1, want, p.conf+`:22: [token] expiration: "soon" is not a whole number`)
	}
	if strings.Contains(r.out, "default") {
		t.Errorf("config show --given shows defaults:\n%s", r.out)
	}
}

// TestNotServed: what asks for more than there is here is told by the check and
// loudly by the start.
func TestNotServed(t *testing.T) {
	p := ready(t, "[identity]", "driver = ldap", "[catalog]", "driver = kvs", "[auth]", "methods = password,token,openid", "[resource]", "driver = sql", "[profiler]", "es_doc_type = x",
		"[identity]", "domain_specific_drivers_enabled = true")
	r := p.run(t, "config", "check")
	for _, want := range []string{
		p.conf + ":16: [identity] driver = ldap is not served: this server acts as with sql\n",
		p.conf + ":18: [catalog] driver = kvs is not served: this server acts as with sql\n",
		p.conf + ":20: these methods of [auth] methods are not served: openid\n",
		p.conf + ":26: [identity] domain_specific_drivers_enabled = true is not served: this server acts as with False\n",
		p.conf + ":24: [profiler] es_doc_type has no effect in this server\n",
	} {
		r.expect(t, "config check", 0, want, "")
	}
	s := call{}.start(t, "--config-file", p.conf, "serve")
	for _, want := range []string{
		"WARNING keystone [-] [identity] driver = ldap is not served: this server acts as with sql at=" + p.conf + ":16",
		"WARNING keystone [-] [catalog] driver = kvs is not served: this server acts as with sql at=" + p.conf + ":18",
		"WARNING keystone [-] These methods of [auth] methods are not served: openid at=" + p.conf + ":20",
		"WARNING keystone [-] [identity] domain_specific_drivers_enabled = true is not served: this server acts as with False at=" + p.conf + ":26",
		"have no effect in this server: [profiler] es_doc_type",
	} {
		if strings.Count(s.log.String(), want) != 1 {
			t.Errorf("the log does not say once %q:\n%s", want, s.log)
		}
	}
	s.end(t, 0)
}

// TestConfigCheckStart looks at what a start would look at, and listens nowhere.
func TestConfigCheckStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	p := ready(t, "[keystone_go]", "listen = "+busy.Addr().String())
	p.run(t, "config", "check", "--start").expect(t, "config check --start", 0, "warning: no rate limit is on", "")
	bad := newPlace(t, "[token]", "provider = uuid", "[keystone_go]", "tls_key_file = /x", "[oslo_policy]", "policy_file = "+p.conf)
	r := bad.run(t, "config", "check", "--start")
	for _, want := range []string{
		bad.conf + `:16: [token] provider: "uuid" is not known`, bad.conf + ":20: [oslo_policy] policy_file: ",
		"[fernet_receipts] key_repository: ", "tls_cert_file and tls_key_file need each other", "does not exist: run db_sync",
	} {
		r.expect(t, "config check --start of a bad file", 1, "read ", want)
	}
	if list := files(t, bad.dir); strings.Count(list, "\n") != 1 {
		t.Errorf("config check --start made something:\n%s", list)
	}
}

func TestConfigCheckStrict(t *testing.T) {
	p := newPlace(t, "[token]", "expirations = 5")
	p.run(t, "config", "check").expect(t, "config check", 0, "[token] expirations is not known", "")
	p.run(t, "config", "check", "--strict").expect(t, "config check --strict", 1, "[token] expirations is not known", "")
	newPlace(t).run(t, "config", "check", "--strict").expect(t, "config check --strict of a good file", 0, "read ", "")
}

// TestFaultsStopEveryVerb before it has done anything.
func TestFaultsStopEveryVerb(t *testing.T) {
	for _, verb := range [][]string{
		{"db_sync"},
		{"db_version"},
		{"fernet_setup"},
		{"fernet_rotate"},
		{"credential_setup"},
		{"bootstrap", "--bootstrap-password", "x"},
		{"serve"},
	} {
		p := newPlace(t, "[token]", "expiration = soon", "[keystone_go]", "listne = :1")
		r := p.run(t, verb...)
		r.expect(t, verb[0], 1, "", "[token] expiration: ")
		if strings.Count(r.err, "\n") != 2 || !strings.Contains(r.err, "[keystone_go] listne: no such option; did you mean [keystone_go] listen?") {
			t.Errorf("%s: stderr %q, want both faults in a line each", verb[0], r.err)
		}
		if entries, _ := os.ReadDir(p.dir); len(entries) != 1 {
			t.Errorf("%s left something behind: %s", verb[0], files(t, p.dir))
		}
	}
}

func TestUnreadableConfiguration(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "keystone.conf")
	call{}.run(t, "--config-file", missing, "db_sync").expect(t, "missing file", 1, "", "keystone-go: "+missing+": cannot read the file: it does not exist\n")
	call{}.run(t, "--config-dir", missing, "serve").expect(t, "missing folder", 1, "", "keystone-go: "+missing+": cannot read the folder: it does not exist\n")
	if os.Geteuid() != 0 {
		p := newPlace(t)
		if err := os.Chmod(p.conf, 0); err != nil {
			t.Fatal(err)
		}
		p.run(t, "serve").expect(t, "no permission", 1, "", "keystone-go: "+p.conf+": cannot read the file: permission denied\n")
	}
}

// TestLogFile: with log_file the log goes there and nowhere else.
func TestLogFile(t *testing.T) {
	p := newPlace(t)
	log := filepath.Join(p.dir, "keystone.log")
	for range 2 {
		p.run(t, "--log-file", log, "--debug", "fernet_setup").expect(t, "fernet_setup", 0, "", "")
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "Key repository is already initialized") {
		t.Errorf("the log file: %v\n%s", err, text)
	}
	p.run(t, "--log-dir", p.dir, "fernet_setup").expect(t, "--log-dir", 0, "", "")
	p.run(t, "--log-file", "/nonexistent/x.log", "fernet_setup").expect(t, "no such folder", 1, "", "keystone-go: open the log: ")
}
