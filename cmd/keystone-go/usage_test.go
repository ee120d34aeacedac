package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMisuse: what cannot be understood is told on stderr with the usage, and
// is exit code 2, as of Python's argparse.
func TestMisuse(t *testing.T) {
	for _, x := range []struct {
		args []string
		says string
	}{
		{nil, "a command is needed"},
		{[]string{"db_sink"}, `there is no command "db_sink"; did you mean db_sync?`},
		{[]string{"-d", "nonsense"}, `there is no command "nonsense"`},
		{[]string{"--config-fill", "x", "db_sync"}, "unknown flag: --config-fill"},
		{[]string{"--config-file"}, "flag needs an argument: --config-file"},
		{[]string{"db_sync", "--expand", "--contract"}, "--contract is not allowed with --expand"},
		{[]string{"db_sync", "--check", "--migrate"}, "--check is not allowed with --migrate"},
		{[]string{"db_sync", "1", "2"}, "accepts at most 1 arg(s)"},
		{[]string{"db_version", "x"}, `unknown command "x"`},
		{[]string{"fernet_setup", "--keystone-usr", "x"}, "unknown flag: --keystone-usr"},
		{[]string{"bootstrap", "--bootstrap-password", "x", "--bootstrap-password-file", "y"}, "--bootstrap-password is not allowed with --bootstrap-password-file"},
		{[]string{"config"}, "config needs a command"},
		{[]string{"config", "show", "x"}, `unknown command "x"`},
		{[]string{"--config-file", "/x", "dev"}, "dev reads the keystone.conf of its folder alone"},
	} {
		r := call{}.run(t, x.args...)
		r.expect(t, strings.Join(x.args, " "), 2, "", x.says)
		if !strings.Contains(r.err, "Usage:") {
			t.Errorf("%v: no usage on stderr: %s", x.args, r.err)
		}
	}
}

func TestVersion(t *testing.T) {
	call{}.run(t, "--version").expect(t, "--version", 0, "(identity v3.14", "")
	call{}.run(t, "version").expect(t, "version", 0, "(identity v3.14, schema 742c857f1dfb/c88cdce8f248, ", "")
	r := call{as: "/usr/bin/keystone-manage"}.run(t, "--version")
	r.expect(t, "keystone-manage --version", 0, "\n", "")
	if strings.ContainsAny(strings.TrimSuffix(r.out, "\n"), " \n,") {
		t.Errorf("keystone-manage --version: got %q, want a version alone", r.out)
	}
}

// TestGlobalFlags stand before the verb or behind it, with = or without.
func TestGlobalFlags(t *testing.T) {
	p := newPlace(t)
	more := filepath.Join(p.dir, "more.d")
	if err := os.Mkdir(more, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(more, "1.conf"), []byte("[token]\nexpiration = 77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--config-file", p.conf, "--config-dir", more, "config", "show"},
		{"--config-file=" + p.conf, "--config-dir=" + more, "config", "show"},
		{"config", "show", "--config-file", p.conf, "--config-dir=" + more},
		{"config", "--config-file", p.conf, "show", "--config-dir=" + more},
	} {
		call{}.run(t, args...).expect(t, strings.Join(args, " "), 0, "expiration = 77  # "+more+"/1.conf:2\n", "")
	}
	r := call{}.run(t, "--config-dir", more, "--config-file", p.conf, "-d", "--use-json", "--log-file=x.log", "--use-syslog", "config", "show")
	for _, want := range []string{"debug = true  # command line\n", "use_json = true  # command line\n", "log_file = x.log  # command line\n", "use_syslog = true  # command line\n"} {
		r.expect(t, "config show", 0, want, "")
	}
}

func TestSearchOrder(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".keystone", "keystone.conf")
	if err := os.MkdirAll(filepath.Dir(file)+"/keystone.conf.d", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		file: "[token]\nexpiration = 1\nallow_expired_window = 1\n[keystone_go]\nhash_wait = 1\n",
		filepath.Dir(file) + "/keystone.conf.d/a.conf": "[token]\nexpiration = 2\n",
		home + "/keystone-manage.conf":                 "[keystone_go]\nhash_wait = 3\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := call{as: "keystone-manage", env: []string{"HOME=" + home, "OS_TOKEN__ALLOW_EXPIRED_WINDOW=9"}}
	for _, want := range []string{"expiration = 2  #", "hash_wait = 3  #", "allow_expired_window = 9  # OS_TOKEN__ALLOW_EXPIRED_WINDOW"} {
		c.run(t, "config", "show").expect(t, "config show", 0, want, "")
	}
	// A file that is named keeps the standard files out, but not the folders.
	other := newPlace(t, "[token]", "allow_expired_window = 5")
	c.env = c.env[:1]
	c.run(t, "--config-file", other.conf, "config", "show").expect(t, "named file", 0, "allow_expired_window = 5  # "+other.conf, "")
	c.run(t, "--config-file", other.conf, "config", "show").expect(t, "standard folder", 0, "expiration = 2  #", "")
	c.run(t, "--config-file", other.conf, "config", "show").expect(t, "standard file", 0, "hash_wait = 15  # default", "")
}
