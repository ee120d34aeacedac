// Package units_test looks at the units of systemd.
package units_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// units copies the units of etc/systemd, with a program that is there.
func units(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	list, err := filepath.Glob("../../etc/systemd/*")
	if err != nil || len(list) < 2 {
		t.Fatalf("%d units, %v", len(list), err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(text), "/usr/bin/keystone-go", self)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, copied)
	}
	return files
}

// TestUnits: what the units rely on in the program, and, where systemd-analyze
// is there, that systemd reads all of it.
func TestUnits(t *testing.T) {
	text, err := os.ReadFile("../../etc/systemd/keystone-go.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"Type=notify-reload", "ExecStart=/usr/bin/keystone-go serve", "KillMode=mixed", "NoNewPrivileges=yes",
		"ProtectSystem=strict", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service", "LimitNOFILE=65536",
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("keystone-go.service lacks %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not here: only the lines were looked at")
		return
	}
	files := units(t)
	out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze verify: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		// An older systemd keeps the Type= before.
		if !strings.Contains(line, "ignoring: notify-reload") {
			t.Errorf("systemd-analyze verify: %s", line)
		}
	}
	out, err = exec.Command(analyze, "security", "--offline=yes", "--no-pager", files[0]).CombinedOutput()
	m := regexp.MustCompile(`Overall exposure level for keystone-go.service: ([0-9.]+)`).FindStringSubmatch(string(out))
	if m == nil {
		t.Logf("systemd-analyze security: %v: no level", err) // before systemd 250
		return
	}
	if level, err := strconv.ParseFloat(m[1], 64); err != nil || level > 2 {
		t.Errorf("exposure level %s, want at most 2.0", m[1])
	}
}
