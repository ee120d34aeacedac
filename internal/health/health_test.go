package health_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/health"
)

// TestBackends: the words are those of oslo.middleware 8.2.0.
func TestBackends(t *testing.T) {
	dir := t.TempDir()
	here, gone := filepath.Join(dir, "here"), filepath.Join(dir, "gone")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ok := health.Result{Available: true, Reason: "OK"}
	off := health.Result{Reason: "DISABLED BY FILE"}
	with := func(r health.Result, details string) health.Result {
		r.Details = details
		return r
	}
	for name, c := range map[string]struct {
		config  health.Config
		port    int
		want    []health.Result
		healthy bool
		warns   string
	}{
		"none":               {health.Config{}, 5000, nil, true, ""},
		"no file named":      {health.Config{Backends: []string{"disable_by_file"}}, 5000, []health.Result{with(ok, "No 'disable_by_file_path' configuration value specified")}, true, ""},
		"the file is there":  {health.Config{Backends: []string{"disable_by_file"}, DisableByFile: here}, 5000, []health.Result{with(off, "Path '"+here+"' was found")}, false, ""},
		"the file is not":    {health.Config{Backends: []string{"disable_by_file"}, DisableByFile: gone}, 5000, []health.Result{with(ok, "Path '"+gone+"' was not found")}, true, ""},
		"a port's file":      {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{" 5000:" + here, "5001:" + gone, ""}}, 5000, []health.Result{off}, false, ""},
		"another port's":     {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{"5000:" + here, "5001:" + gone}}, 5001, []health.Result{ok}, true, ""},
		"a port without one": {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{"5000:" + here}}, 5002, []health.Result{ok}, true, ""},
		"two in order": {
			health.Config{Backends: []string{"disable_by_files_ports", "disable_by_file"}, DisableByPort: []string{"5000:" + here}, DisableByFile: gone},
			5000,
			[]health.Result{off, with(ok, "Path '"+gone+"' was not found")},
			false, "",
		},
		"enabled":              {health.Config{Backends: []string{"enable_by_files"}, EnableByFiles: []string{here}}, 5000, []health.Result{with(ok, "Specified file paths are available")}, true, ""},
		"not enabled":          {health.Config{Backends: []string{"enable_by_files"}, EnableByFiles: []string{here, gone}}, 5000, []health.Result{{Reason: "FILE PATH MISSING", Details: "File path " + gone + " is missing"}}, false, ""},
		"an unknown backend":   {health.Config{Backends: []string{"nosuch"}}, 5000, nil, true, `there is no "nosuch"`},
		"a port that is none":  {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{"x:" + here}}, 5000, nil, true, `"x" is no port`},
		"a pair that is none":  {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{here}}, 5000, nil, true, "is no port:file"},
		"a file with a colon":  {health.Config{Backends: []string{"disable_by_files_ports"}, DisableByPort: []string{"5000:" + here + ":x"}}, 5000, []health.Result{ok}, true, ""},
		"options of an absent": {health.Config{DisableByFile: here, EnableByFiles: []string{gone}}, 5000, nil, true, ""},
	} {
		h, warnings, err := health.New(c.config)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, healthy := h.Run(c.port)
		if diff := cmp.Diff(c.want, got); diff != "" || healthy != c.healthy {
			t.Errorf("%s: healthy %v (-want +got)\n%s", name, healthy, diff)
		}
		if said := strings.Join(warnings, "\n"); c.warns == "" && said != "" || !strings.Contains(said, c.warns) {
			t.Errorf("%s: warnings %q, want %q", name, said, c.warns)
		}
	}
}

func TestPortWithoutAFileIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	h, _, err := health.New(health.Config{Backends: []string{"disable_by_files_ports"}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		h.Run(5000)
	}
	if n := strings.Count(log.String(), "port=5000"); n != 1 {
		t.Errorf("told %d times: %s", n, &log)
	}
}

func TestWhoMayAsk(t *testing.T) {
	h, _, err := health.New(health.Config{SourceRanges: []string{"10.0.0.0/8", "2001:db8::/32", "192.0.2.7"}})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{"10.1.2.3": true, "11.0.0.1": false, "2001:db8::1": true, "::1": false, "192.0.2.7": true, "192.0.2.8": false} {
		if got := h.Allows(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	var none *health.Checks
	if h.Allows(netip.Addr{}) || !none.Allows(netip.Addr{}) {
		t.Error("no address")
	}
	for _, c := range []health.Config{
		{SourceRanges: []string{"10.0.0.1/8"}},
		{SourceRanges: []string{"example.org"}},
		{Backends: []string{"enable_by_files", "disable_by_file"}},
	} {
		if _, _, err := health.New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
