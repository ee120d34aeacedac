package conf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// tree writes files below a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLaterFilesWin(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.conf":       "[token]\nexpiration = 1\nallow_expired_window = 1\n[federation]\ntrusted_dashboard = a\n",
		"b.conf":       "[token]\nexpiration = 2\n[federation]\ntrusted_dashboard = b\n",
		"d/20.conf":    "[token]\nexpiration = 20\n",
		"d/10.conf":    "[token]\nexpiration = 10\nprovider = uuid\n",
		"d/.hid.conf":  "[token]\nexpiration = 30\n",
		"d/notes.text": "not a configuration",
	})
	p := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	c, err := conf.Load(conf.Sources{Files: p("a.conf", "b.conf"), Dirs: p("d")})
	if err != nil {
		t.Fatal(err)
	}
	if c.Token.Expiration != 20 || c.Token.AllowExpiredWindow != 1 || c.Token.Provider != "uuid" {
		t.Errorf("got %+v", c.Token)
	}
	if d := cmp.Diff([]string{"a", "b"}, c.Federation.TrustedDashboard); d != "" {
		t.Errorf("a repeatable option, the earlier file first: %s", d)
	}
	if d := cmp.Diff(p("a.conf", "b.conf", "d/10.conf", "d/20.conf"), c.Files); d != "" {
		t.Errorf("files: %s", d)
	}
	if d := cmp.Diff([]string{filepath.Join(dir, "d"), dir, "/etc/keystone", "/etc"}, c.Dirs); d != "" {
		t.Errorf("folders for helper files: %s", d)
	}
	c, err = conf.Load(conf.Sources{Paths: []conf.Path{{Path: p("d")[0], Dir: true}, {Path: p("a.conf")[0]}}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Token.Expiration != 1 {
		t.Errorf("a file after a folder: got %d, want 1", c.Token.Expiration)
	}
}

func TestEnvironmentWins(t *testing.T) {
	file := write(t, "keystone.conf", "[token]\nexpiration = 1\n[DEFAULT]\ndebug = false\n")
	c, err := conf.Load(conf.Sources{Files: []string{file}, Env: []string{
		"OS_TOKEN__EXPIRATION= 7 ", "OS_DEFAULT__DEBUG=yes", "OS_AUTH__METHODS=token, password", "OS_DEFAULT__LOG_FILE=$log_dir/x",
		"OS_FEDERATION__TRUSTED_DASHBOARD=https://a.test/,b", "OS_RATE_LIMIT_USER_AUTH__MAX_ENTRIES=5000",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Token.Expiration != 7 || !c.Default.Debug || c.Default.LogFile != "/x" || c.RateLimitUserAuth.MaxEntries != 5000 {
		t.Errorf("got %d, %v, %q, %d", c.Token.Expiration, c.Default.Debug, c.Default.LogFile, c.RateLimitUserAuth.MaxEntries)
	}
	if d := cmp.Diff([]string{"token", "password"}, c.Auth.Methods); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"https://a.test/,b"}, c.Federation.TrustedDashboard); d != "" {
		t.Error(d)
	}
	for _, s := range c.Settings() {
		if s.String() == "[token] expiration" && s.Origin() != "OS_TOKEN__EXPIRATION" {
			t.Errorf("origin: got %q", s.Origin())
		}
	}
	_, err = conf.Load(conf.Sources{Env: []string{"OS_TOKEN__EXPIRATION=soon", "OS_RATE_LIMIT_GLOBAL_IP__BURST=1"}})
	want := `OS_TOKEN__EXPIRATION: [token] expiration: "soon" is not a whole number; give a whole number of at least 0
OS_RATE_LIMIT_GLOBAL_IP__BURST: [rate_limit_global_ip] burst: no such option; there are enabled, burst_size, replenish_rate_per_second, mode, aggregate_factor, aggregate_ipv6_prefix, aggregate_ipv4_prefix, ipv6_prefix, ipv4_prefix, max_entries, algorithm, overflow, on_store_failure`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestOlderNames: the current name wins within a file, a newer file over both.
func TestOlderNames(t *testing.T) {
	old := write(t, "old.conf", "[assignment]\nlist_limit = 1\n[DATABASE]\nsql_connection = sqlite://\n")
	both := write(t, "both.conf", "[assignment]\nlist_limit = 2\n[resource]\nlist_limit = 3\n")
	for _, x := range []struct {
		files []string
		want  int
		was   string
	}{
		{[]string{old}, 1, "[assignment] list_limit"},
		{[]string{both}, 3, ""},
		{[]string{both, old}, 1, "[assignment] list_limit"},
		{[]string{old, both}, 3, ""},
	} {
		c, err := conf.Load(conf.Sources{Files: x.files})
		if err != nil {
			t.Fatal(err)
		}
		was := ""
		for _, d := range c.Deprecated {
			if d.String() == "[resource] list_limit" && d.Was != nil {
				was = d.Was.String()
			}
		}
		if got := c.Resource.ListLimit; got == nil || *got != x.want || was != x.was {
			t.Errorf("%d files: got %v read as %q, want %d read as %q", len(x.files), got, was, x.want, x.was)
		}
	}
	c, err := conf.Load(conf.Sources{Files: []string{old}})
	if err != nil || c.Database.Connection != "sqlite://" {
		t.Errorf("[DATABASE] sql_connection: got %v, %v", c, err)
	}
}

func TestFind(t *testing.T) {
	home := tree(t, map[string]string{
		".keystone/keystone.conf":          "",
		"keystone.conf":                    "",
		"keystone-go.conf":                 "",
		"keystone.conf.d/1.conf":           "",
		"snap/etc/keystone/other.conf":     "",
		"snap/etc/keystone/other.conf.d/x": "",
	})
	rel := func(paths []string) string {
		return strings.ReplaceAll(strings.Join(paths, " "), home+"/", "")
	}
	files, dirs := conf.Find("keystone-go", []string{"HOME=" + home})
	if got := rel(files); got != ".keystone/keystone.conf keystone-go.conf" {
		t.Errorf("files: %s", got)
	}
	if got := rel(dirs); got != "keystone.conf.d" {
		t.Errorf("folders: %s", got)
	}
	files, dirs = conf.Find("other", []string{"HOME=" + home, "SNAP=" + home + "/snap"})
	if got := rel(files) + " " + rel(dirs); got != ".keystone/keystone.conf snap/etc/keystone/other.conf keystone.conf.d snap/etc/keystone/other.conf.d" {
		t.Errorf("with a snap: %s", got)
	}
	for env, want := range map[string]string{
		"OS_KEYSTONE_CONFIG_DIR=/c":                                   "/c/keystone.conf",
		"OS_KEYSTONE_CONFIG_FILES=/a.conf; /b.conf":                   "/a.conf /b.conf",
		"OS_KEYSTONE_CONFIG_DIR=/c OS_KEYSTONE_CONFIG_FILES=a;b.conf": "/c/a /c/b.conf",
	} {
		var list []string
		for i, e := range strings.Split(env, " OS_") {
			if i > 0 {
				e = "OS_" + e
			}
			list = append(list, e)
		}
		if files, dirs := conf.Find("keystone-go", list); strings.Join(files, " ") != want || len(dirs) > 0 {
			t.Errorf("%s: got %v, %v, want %s", env, files, dirs, want)
		}
	}
}
