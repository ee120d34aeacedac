package clients_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest/pgserver"
	"github.com/keystone-go/keystone-go/internal/proctest"
	"github.com/keystone-go/keystone-go/test/harness"
	"go.yaml.in/yaml/v4"
)

// server is a running keystone-go and how the first admin logs in to it.
type server struct {
	url      string // without /v3
	password string
	clouds   string // the clouds.yaml that it wrote, if any
	database string // SQLAlchemy URL
}

// environ gives a client the admin's login on the project admin, and nothing
// of the caller's own OpenStack settings.
func (s server) environ(t *testing.T, more ...string) []string {
	return append(bare(t),
		append([]string{
			"OS_AUTH_URL=" + s.url + "/v3",
			"OS_USERNAME=admin",
			"OS_PASSWORD=" + s.password,
			"OS_USER_DOMAIN_NAME=Default",
			"OS_PROJECT_NAME=admin",
			"OS_PROJECT_DOMAIN_NAME=Default",
			"OS_REGION_NAME=RegionOne",
			"OS_IDENTITY_API_VERSION=3",
		}, more...)...)
}

// bare is the environment without OpenStack's variables, its home empty.
func bare(t *testing.T) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OS_") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+t.TempDir())
}

// build makes the server's program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "keystone-go")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/keystone-go").CombinedOutput()
	if err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return program
}

// dev starts the server as a first user does: keystone-go dev on a state
// folder, with SQLite.
func dev(t *testing.T, program, state string) (s server, end func()) {
	t.Helper()
	s = server{
		url:      "http://" + freeAddress(t),
		clouds:   filepath.Join(state, "clouds.yaml"),
		database: "sqlite:///" + filepath.Join(state, "keystone.db"),
	}
	cmd := exec.Command(program, "dev", "--state", state, "--listen", strings.TrimPrefix(s.url, "http://"))
	cmd.Env = append(os.Environ(), harness.EnforcedLimitsEnv(t)...)
	end = run(t, s.url, cmd)
	s.password = cloudPassword(t, s.clouds)
	return s, end
}

// cloudPassword reads the admin's password from a clouds.yaml.
func cloudPassword(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Clouds map[string]struct {
			Auth struct {
				Password string `yaml:"password"`
			} `yaml:"auth"`
		} `yaml:"clouds"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	password := file.Clouds["keystone-go"].Auth.Password
	if password == "" {
		t.Fatalf("%s: the cloud keystone-go has no password", path)
	}
	return password
}

// production starts the server as an operator does: keystone.conf, keys and
// schema by command, bootstrap, serve, on an empty database.
func production(t *testing.T, program, database string) server {
	t.Helper()
	folder := t.TempDir()
	s := server{url: "http://" + freeAddress(t), password: "s3cret $ig&ns%", database: database}
	conf := filepath.Join(folder, "keystone.conf")
	text := fmt.Sprintf(`
[DEFAULT]
[database]
connection = %s
[fernet_tokens]
key_repository = %s/fernet-keys
[fernet_receipts]
key_repository = %s/fernet-keys
[credential]
key_repository = %s/credential-keys
[keystone_go]
listen = %s
admin_listen = %s
%s`, s.database, folder, folder, folder, strings.TrimPrefix(s.url, "http://"), freeAddress(t), harness.EnforcedLimits(t))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	owner := []string{"--keystone-user", me.Username, "--keystone-group", group.Name}
	for _, args := range [][]string{
		{"db_sync"},
		{"db_sync", "--check"},
		append([]string{"fernet_setup"}, owner...),
		append([]string{"credential_setup"}, owner...),
		{
			"bootstrap", "--bootstrap-password", s.password, "--bootstrap-region-id", "RegionOne",
			"--bootstrap-public-url", s.url + "/v3", "--bootstrap-internal-url", s.url + "/v3", "--bootstrap-admin-url", s.url + "/v3",
		},
	} {
		out, err := exec.Command(program, append([]string{"--config-file", conf}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run(t, s.url, exec.Command(program, "--config-file", conf, "serve"))
	return s
}

// newPostgres makes an empty database, on a server of its own where none is given.
func newPostgres(t *testing.T) string {
	t.Helper()
	address := os.Getenv("KEYSTONE_GO_TEST_POSTGRES")
	if address == "" {
		own, err := pgserver.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(own.Stop)
		address = own.URL
	}
	name := "clients_" + strings.ToLower(rand.Text())
	admin := func(statement string) {
		t.Helper()
		d, err := db.Open(t.Context(), db.Config{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	admin("create database " + name)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("KEYSTONE_GO_TEST_POSTGRES: %v", err)
	}
	u.Path = "/" + name
	return u.String()
}

// run starts the server and waits until it answers. It ends by SIGTERM, with
// status 0, when end is called or the test is over.
func run(t *testing.T, url string, cmd *exec.Cmd) (end func()) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end = sync.OnceFunc(func() { stop(t, cmd, ended, &log) })
	t.Cleanup(end)

	for range 300 {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the server ended before it answered: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		if answers(url) {
			return end
		}
	}
	t.Fatal("the server does not answer after 30 s")
	return nil
}

func answers(url string) bool {
	r, err := http.Get(url + "/v3")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

func stop(t *testing.T, cmd *exec.Cmd, ended chan error, log *bytes.Buffer) {
	err := cmd.Process.Signal(syscall.SIGTERM)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case err = <-ended:
	case <-time.After(30 * time.Second):
		err = errors.Join(errors.New("still running 30 s after SIGTERM"), cmd.Process.Kill(), <-ended)
	}
	if err != nil {
		t.Errorf("the server's end: %v", err)
	}
	// The packaged limits are enforced, and no client notices.
	for _, line := range harness.Limited(log.String()) {
		t.Errorf("limited: %s", line)
	}
	if t.Failed() {
		text := log.String()
		t.Logf("the server's log:\n%s", text[max(0, len(text)-8000):])
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := proctest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
