package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// overlays make the files of others fit to start on this machine: other paths,
// another database, a log on stderr.
const overlay = `[DEFAULT]
log_file =
log_dir =
log_config_append =
use_journal = false
[database]
connection = sqlite:///%[1]s/keystone.db
[fernet_tokens]
key_repository = %[1]s/fernet-keys
[fernet_receipts]
key_repository = %[1]s/fernet-keys
[credential]
key_repository = %[1]s/credential-keys
[keystone_go]
listen = 127.0.0.1:0
admin_listen = 127.0.0.1:0
`

// usersFiles are configurations as the tools of the OpenStack world write them.
func usersFiles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../test/testdata/conf/users/*.conf")
	if err != nil || len(list) != 11 {
		t.Fatalf("%d files (%v), want 11", len(list), err)
	}
	return list
}

// overlaid gives the arguments that read a file with the place's paths over it.
func (p place) overlaid(t *testing.T, file string) []string {
	t.Helper()
	over := filepath.Join(t.TempDir(), "overlay.conf")
	if err := os.WriteFile(over, fmt.Appendf(nil, overlay, p.dir), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config-file", file, "--config-file", over}
}

// TestFilesOfOthersServe starts the server on each.
func TestFilesOfOthersServe(t *testing.T) {
	p := ready(t)
	for _, file := range usersFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".conf"), func(t *testing.T) {
			s := call{}.start(t, append(p.overlaid(t, file), "serve")...)
			for _, path := range []string{"/v3", "/healthcheck"} {
				if status, body := get(t, s.url+path); status != http.StatusOK {
					t.Errorf("GET %s: %d %s", path, status, body)
				}
			}
			if status, body := get(t, s.admin+"/readyz"); status != http.StatusOK {
				t.Errorf("GET /readyz: %d %s", status, body)
			}
			if strings.Contains(s.log.String(), " ERROR ") || strings.Contains(s.log.String(), "SECRET") {
				t.Errorf("the log:\n%s", s.log)
			}
			s.end(t, 0)
		})
	}
}

// planted is a fault: lines that are added to a file, and what the start says.
type planted struct {
	lines string
	says  string
	alone bool // with other faults it would not be met
}

// inFile are faults of the file itself, told with its line.
var inFile = []planted{
	{"[token]\nexpiration = soon", `2: [token] expiration: "soon" is not a whole number`, false},
	{"[token]\nexpiration = -1", "2: [token] expiration: -1 is out of range", true},
	{"[token]\nexpiration =", "2: [token] expiration: the value is empty", true},
	{"[DEFAULT]\ndebug = maybe", `2: [DEFAULT] debug: "maybe" is not a truth value`, false},
	{"[DEFAULT]\npublic_endpoint = id.example.test:5000", "2: [DEFAULT] public_endpoint: ", false},
	{"[DEFAULT]\nlist_limit = 1e3", `2: [DEFAULT] list_limit: "1e3" is not a whole number`, false},
	{"[DEFAULT]\nmax_db_limit = -1", "2: [DEFAULT] max_db_limit: -1 is out of range", false},
	{"[fernet_tokens]\nmax_active_keys = 0", "2: [fernet_tokens] max_active_keys: 0 is out of range; give a whole number of at least 1", false},
	{"[fernet_receipts]\nmax_active_keys = few", `2: [fernet_receipts] max_active_keys: "few"`, false},
	{"[identity]\npassword_hash_algorithm = argon2", `2: [identity] password_hash_algorithm: "argon2" is not known; give one of bcrypt`, false},
	{"[identity]\nmax_password_length = 5000", "2: [identity] max_password_length: 5000 is out of range", false},
	{"[identity]\nsalt_bytesize = 97", "2: [identity] salt_bytesize: 97 is out of range; give a whole number from 0 to 96", false},
	{"[security_compliance]\nlockout_failure_attempts = 0", "2: [security_compliance] lockout_failure_attempts: 0 is out of range", false},
	{"[security_compliance]\npassword_expires_days = x", "2: [security_compliance] password_expires_days: ", false},
	{"[receipt]\nexpiration = 86401", "2: [receipt] expiration: 86401 is out of range", false},
	{"[resource]\nproject_name_url_safe = maybe", "2: [resource] project_name_url_safe: ", false},
	{"[oslo_policy]\nremote_timeout = -1", "2: [oslo_policy] remote_timeout: ", false},
	{"[oslo_policy]\nremote_content_type = text", "2: [oslo_policy] remote_content_type: ", false},
	{"[jwt_tokens]\njws_algorithm = RS256", "2: [jwt_tokens] jws_algorithm: ", false},
	{"[database]\nconnection = sqlite:///$no_such", "2: [database] connection: $no_such names no option; write $$ where a dollar is meant", false},
	{"[database]\nmax_pool_size = many", "2: [database] max_pool_size: ", false},
	{"[cache]\nbackend = redis", `2: [cache] backend: "redis" is not known`, false},
	{"[totp]\nincluded_previous_windows = 11", "2: [totp] included_previous_windows: 11 is out of range", false},
	{"[keystone_go]\nlistne = :1", "2: [keystone_go] listne: no such option; did you mean [keystone_go] listen?", false},
	{"[keystone_go]\nhash_slots = 2000", "2: [keystone_go] hash_slots: 2000 is out of range; give a whole number from 0 to 1024", false},
	{"[keystone-go]\nlisten = :1", "1: [keystone-go]: no such section; did you mean [keystone_go]?", false},
	{"[rate_limit_user_auth]\nenabled = true\nburst_size = 5", "2: [rate_limit_user_auth] replenish_rate_per_second: a number is needed while enabled is true", false},
	{"[rate_limit_global_ip]\nburst_size = ten", "2: [rate_limit_global_ip] burst_size: ", false},
	{"[rate_limit_trusted_proxies]\ntrusted_proxies = 0.0.0.0/0", "2: [rate_limit_trusted_proxies] trusted_proxies: ", false},
	{"[rate_limit_trusted_proxies]\ntrusted_header = X-Client", "2: [rate_limit_trusted_proxies] trusted_header: ", false},
	{"[token]\nexpiration", "2: expected a [section], a comment, or: option = value", false},
	{"[token]\n# c\n expiration = 5", "3: the line is indented but continues nothing", false},
	{"[token]\n[identity] # users", "2: a section header must end with ]", false},
	{"[token]\n= 5", "2: there is no option name before the =", false},
}

// around are faults that show when what the file names is looked at. DIR is
// the place's folder, BUSY an address that is taken.
var around = []planted{
	{"[fernet_tokens]\nkey_repository = DIR/none", "2: [fernet_tokens] key_repository: read Fernet keys: ", true},
	{"[fernet_receipts]\nkey_repository = DIR/none", "2: [fernet_receipts] key_repository: read Fernet keys: ", false},
	{"[database]\nconnection = sqlite:///DIR/none.db", "the database DIR/none.db does not exist: run db_sync", false},
	{"[database]\nconnection = oracle://k:SECRET@h/k", "postgresql", true},
	{"[token]\nprovider = uuid", `2: [token] provider: "uuid" is not known; give fernet or jws`, false},
	{"[token]\nprovider = jws\n[jwt_tokens]\njws_private_key_repository = DIR/none", "4: [jwt_tokens] jws_private_key_repository: ", true},
	{"[keystone_go]\nlisten = 127.0.0.1:99999", "[keystone_go] listen: ", false},
	{"[keystone_go]\nadmin_listen = BUSY", "[keystone_go] admin_listen: listen on BUSY: ", false},
	{"[keystone_go]\nsocket_mode = 999", "[keystone_go] socket_mode = 999 is no mode in octal", true},
	{"[keystone_go]\ntls_cert_file = DIR/none.pem", "[keystone_go] tls_cert_file and tls_key_file need each other", false},
	{"[oslo_policy]\npolicy_file = DIR/keystone.conf", "2: [oslo_policy] policy_file: ", false},
}

// TestPlantedFaults: each of them alone, in a file of others, stops the start
// before anything is made, and is told with its place.
func TestPlantedFaults(t *testing.T) {
	p := ready(t)
	users := usersFiles(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	fill := strings.NewReplacer("DIR", p.dir, "BUSY", busy.Addr().String()).Replace
	before := files(t, p.dir)
	start := func(base, lines string) (r result, file string) {
		t.Helper()
		file = write(t, fill(lines))
		r = call{}.run(t, append(p.overlaid(t, base), "--config-file", file, "serve")...)
		if r.code != 1 || r.out != "" {
			t.Errorf("%q: exit code %d, stdout %q, want 1 and nothing", lines, r.code, r.out)
		}
		if strings.Contains(r.err, "Serving listen=") || strings.Contains(r.err, "SECRET") {
			t.Errorf("%q: stderr\n%s", lines, r.err)
		}
		if after := files(t, p.dir); after != before {
			t.Errorf("%q: the start changed the folder to\n%s", lines, after)
		}
		return r, file
	}
	// told finds the message in a line of its own.
	told := func(r result, file string, x planted) {
		t.Helper()
		says := fill(x.says)
		if says[0] >= '0' && says[0] <= '9' {
			says = file + ":" + says
		}
		for line := range strings.Lines(r.err) {
			if strings.HasPrefix(line, "keystone-go: ") && strings.Contains(line, says) {
				return
			}
		}
		t.Errorf("%q: no line says %q:\n%s", x.lines, says, r.err)
	}
	for i, x := range append(inFile, around...) {
		r, file := start(users[i%len(users)], x.lines)
		told(r, file, x)
		faults := 0
		for line := range strings.Lines(r.err) {
			if strings.HasPrefix(line, "keystone-go: ") {
				faults++
			}
		}
		if faults != 1 {
			t.Errorf("%q: %d faults told, want one:\n%s", x.lines, faults, r.err)
		}
	}
	n := len(inFile) + len(around)
	t.Logf("figure: %d faults planted one by one", n)
	if n < 40 {
		t.Errorf("%d faults planted, want at least 40", n)
	}
	for name, list := range map[string][]planted{"in the file": inFile, "around it": around} {
		var all []string
		together := 0
		for _, x := range list {
			if !x.alone {
				all = append(all, x.lines)
				together++
			}
		}
		r, file := start(users[0], strings.Join(all, "\n"))
		line := 0
		for _, x := range list {
			if x.alone {
				continue
			}
			told(r, file, moved(x, line))
			line += strings.Count(x.lines, "\n") + 1
		}
		t.Logf("figure: %d faults %s told by one start", together, name)
	}
}

// moved gives a fault further down in a file.
func moved(x planted, by int) planted {
	at, rest, ok := strings.Cut(x.says, ": ")
	var n int
	if _, err := fmt.Sscanf(at, "%d", &n); ok && err == nil && fmt.Sprint(n) == at {
		x.says = fmt.Sprintf("%d: %s", n+by, rest)
	}
	return x
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "planted.conf")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
