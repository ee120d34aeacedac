package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// login posts the password in clouds.yaml and gives the token.
func (s *started) login(t *testing.T, password string) (token string) {
	t.Helper()
	body := `{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": {"id": "default"}, "password": "` + password + `"}}}, "scope": {"project": {"name": "admin", "domain": {"id": "default"}}}}}`
	r, err := http.Post(s.url+"/v3/auth/tokens", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusCreated {
		t.Fatalf("log in: %s", r.Status)
	}
	return r.Header.Get("X-Subject-Token")
}

func (s *started) send(t *testing.T, method, path, token, body string, want int) map[string]any {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("X-Auth-Token", token)
	q.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != want {
		t.Fatalf("%s %s: %s, want %d", method, path, r.Status, want)
	}
	var answer map[string]any
	_ = json.NewDecoder(r.Body).Decode(&answer) // empty where there is none
	return answer
}

func TestDev(t *testing.T) {
	state := filepath.Join(t.TempDir(), "my 'state'")
	began := time.Now()
	s := call{}.start(t, "dev", "--state", state, "--listen", "127.0.0.1:0")
	c, err := readCloud(state + "/clouds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	token := s.login(t, c.password)
	t.Logf("the first token came after %v", time.Since(began))
	if c.url != s.url {
		t.Errorf("clouds.yaml has %s, the server is on %s", c.url, s.url)
	}
	for name, mode := range map[string]os.FileMode{
		"": 0o700, "clouds.yaml": 0o600, "keystone.conf": 0o600, "fernet-keys": 0o700, "fernet-keys/0": 0o600, "credential-keys/1": 0o600, "keystone.db": 0o600,
	} {
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v, want mode %v", name, info, err, mode)
		}
	}
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	if last := lines[len(lines)-1]; last != "keystone-go is ready on "+s.url+"/v3" {
		t.Errorf("the last line on stdout is %q", last)
	}
	if strings.Contains(s.out.String()+s.log.String(), c.password) {
		t.Error("the password is printed")
	}
	s.send(t, "POST", "/v3/regions", token, `{"region": {"id": "kept"}}`, http.StatusCreated)
	s.end(t, 0)

	// A second start elsewhere keeps data, password and tokens; the catalog
	// follows the address.
	before, _ := os.ReadFile(state + "/keystone.conf")
	again := call{}.start(t, "dev", "--state", state, "--listen", "localhost:0")
	if after, _ := os.ReadFile(state + "/keystone.conf"); string(after) != string(before) {
		t.Error("the second start changed keystone.conf")
	}
	moved, err := readCloud(state + "/clouds.yaml")
	if err != nil || moved.password != c.password || moved.url != again.url {
		t.Errorf("clouds.yaml after the second start: %+v, %v", moved, err)
	}
	again.send(t, "GET", "/v3/regions/kept", token, "", http.StatusOK)
	catalog, _ := json.Marshal(again.send(t, "GET", "/v3/auth/catalog", token, "", http.StatusOK))
	if strings.Count(string(catalog), `"url":"`+again.url+`/v3"`) != 3 {
		t.Errorf("the catalog: %s", catalog)
	}
}

// TestDevWritesThePackagedFile: the limiters of the state folder's
// keystone.conf are those of the packaged file.
func TestDevWritesThePackagedFile(t *testing.T) {
	state := folder(filepath.Join(t.TempDir(), "state"))
	if err := state.configure(devListen); err != nil {
		t.Fatal(err)
	}
	packaged, err := os.ReadFile("../../etc/keystone.conf")
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(state.path("keystone.conf"))
	if err != nil {
		t.Fatal(err)
	}
	limiters := func(text []byte) string {
		_, after, _ := strings.Cut(string(text), "[rate_limit_global_ip]")
		return after
	}
	if limiters(written) == "" || limiters(written) != limiters(packaged) {
		t.Error("the limiters' sections differ from those of etc/keystone.conf")
	}
	c, err := conf.Load(conf.Sources{Files: []string{state.path("keystone.conf")}})
	if err != nil {
		t.Fatal(err)
	}
	if c.KeystoneGo.AdminListen != "127.0.0.1:5009" || c.KeystoneGo.Listen[0] != devListen || c.Database.Connection != "sqlite:///"+state.path("keystone.db") {
		t.Errorf("got %+v, %s", c.KeystoneGo, c.Database.Connection)
	}
}

// TestDevRefuses: one line, and a state that the next start completes.
func TestDevRefuses(t *testing.T) {
	busy := call{}.start(t, "dev", "--state", filepath.Join(t.TempDir(), "a"), "--listen", "127.0.0.1:0")
	taken := strings.TrimPrefix(busy.url, "http://")
	state := filepath.Join(t.TempDir(), "b")
	r := call{}.run(t, "dev", "--state", state, "--listen", taken)
	if r.code != 1 || !strings.HasSuffix(r.err, "address already in use\n") || strings.Count(r.err, "\n") != 1 || r.out != "" {
		t.Errorf("an occupied port: exit code %d, stdout %q, stderr %q", r.code, r.out, r.err)
	}
	if _, err := os.Stat(state + "/keystone.db"); err == nil {
		t.Error("an occupied port: a database was made")
	}
	done := call{}.start(t, "dev", "--state", state, "--listen", "127.0.0.1:0")
	done.end(t, 0)

	if err := os.WriteFile(state+"/clouds.yaml", []byte("clouds: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = call{}.run(t, "dev", "--state", state, "--listen", "127.0.0.1:0")
	if r.code != 1 || !strings.Contains(r.err, "clouds.yaml has no cloud keystone-go") {
		t.Errorf("clouds.yaml without the cloud: exit code %d, stderr %q", r.code, r.err)
	}
	r = call{}.run(t, "dev", "--state", os.DevNull)
	if r.code != 1 || !strings.HasPrefix(r.err, "keystone-go: make the state folder: ") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("a state folder that cannot be made: exit code %d, stderr %q", r.code, r.err)
	}
	if err := os.WriteFile(state+"/keystone.conf", []byte("[token]\nexpiration = soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = call{}.run(t, "dev", "--state", state)
	r.expect(t, "a broken keystone.conf", 1, "", "keystone-go: "+state+"/keystone.conf:2: [token] expiration: ")
}
