package olog

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
)

// recorded is what oslo.log and Python's logging wrote: testdata/record.py.
type recorded struct {
	Lines []struct {
		Settings map[string]string
		Context  map[string]string
		Level    int
		Created  float64
		Line     string
	}
	JSON []struct {
		Context map[string]string
		Line    json.RawMessage
	}
	INI []struct {
		File  string
		Error bool
		Out   map[string]string
	}
}

func readRecorded(t *testing.T) recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/oslo_log.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func levelOf(python int) slog.Level {
	return map[int]slog.Level{10: slog.LevelDebug, 20: slog.LevelInfo, 30: slog.LevelWarn, 40: slog.LevelError, 50: slog.LevelError + 4}[python]
}

func requestFrom(c map[string]string) *Request {
	return &Request{
		ID: c["request_id"], GlobalID: c["global_request_id"], User: c["user_id"], UserDomain: c["user_domain_id"],
		Project: c["project_id"], ProjectDomain: c["project_domain_id"], Domain: c["domain_id"], System: c["system_scope"],
		UserName: c["user_name"], UserDomainName: c["user_domain_name"], ProjectName: c["project_name"],
		ProjectDomainName: c["project_domain_name"], DomainName: c["domain_name"],
	}
}

// recordedRecord is the record that record.py formats.
func recordedRecord(t *testing.T, c map[string]string, level int, created float64) *record {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return &record{
		time: time.UnixMicro(int64(created*1e6 + 0.5)).In(berlin), level: levelOf(level), logger: "keystone.auth",
		message: "hello 100% wörld", req: requestFrom(c),
		source: &source{function: "login", path: "/src/keystone/auth/core.py", file: "core.py", module: "core", line: 42},
	}
}

func TestLinesAreOsloLogs(t *testing.T) {
	lines := readRecorded(t).Lines
	if len(lines) < 200 {
		t.Fatalf("only %d lines are recorded", len(lines))
	}
	for _, l := range lines {
		suffix, set := l.Settings["logging_debug_format_suffix"]
		if !set {
			suffix = defaultSuffix
		}
		form, notes := newText(formats{
			date: l.Settings["log_date_format"], inside: l.Settings["logging_context_format_string"], outside: l.Settings["logging_default_format_string"],
			suffix: suffix, exception: l.Settings["logging_exception_prefix"], identity: l.Settings["logging_user_identity_format"],
		}, 4711, "vm")
		if len(notes) > 0 {
			t.Errorf("%v: %q", l.Settings, notes)
		}
		if got := string(form.append(nil, recordedRecord(t, l.Context, l.Level, l.Created))); got != l.Line {
			t.Errorf("%v %v level %d\n got %s\nwant %s", l.Settings, l.Context, l.Level, got, l.Line)
		}
	}
	t.Logf("%d lines are equal", len(lines))
}

// What a server does not have, or has only in Python.
var absentKeys = []string{"is_admin", "read_only", "show_deleted", "auth_token", "resource_uuid", "roles", "user_identity", "is_admin_project"}

func TestJSONIsOsloLogs(t *testing.T) {
	form, _ := newText(formats{}, 4711, "vm")
	for _, l := range readRecorded(t).JSON {
		got := (&jsonText{*form}).append(nil, recordedRecord(t, l.Context, 20, 1774000000.007))
		if g, w := keysOf(t, got), keysOf(t, l.Line); !slices.Equal(g, w) {
			t.Errorf("keys: got %q, want %q", g, w)
		}
		a, b := object(t, got), object(t, l.Line)
		for _, o := range []map[string]any{a, b} {
			for _, k := range []string{"relative_created", "thread", "thread_name", "process_name", "hostname"} {
				delete(o, k)
			}
		}
		for _, k := range absentKeys {
			delete(b["context"].(map[string]any), k)
		}
		if d := cmp.Diff(b, a); d != "" {
			t.Errorf("%v: (-oslo.log +here)\n%s", l.Context, d)
		}
	}
}

func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// keysOf gives the members of an object in their order.
func keysOf(t *testing.T, text []byte) []string {
	t.Helper()
	d, depth, isKey := json.NewDecoder(bytes.NewReader(text)), 0, true
	var keys []string
	for {
		token, err := d.Token()
		if err != nil {
			return keys
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			continue
		case json.Delim('}'), json.Delim(']'):
			if depth--; depth == 1 {
				isKey = true
			}
			continue
		}
		if depth == 1 {
			if isKey {
				keys = append(keys, token.(string))
			}
			isKey = !isKey
		}
	}
}

func TestLogConfigAppendIsPythons(t *testing.T) {
	for _, c := range readRecorded(t).INI {
		t.Run(c.File, func(t *testing.T) {
			dir := t.TempDir()
			text, err := os.ReadFile(filepath.Join("testdata/ini", c.File))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "logging.conf")
			if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("@DIR@"), []byte(dir)), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			l, err := Open(Config{Append: path, Stdout: &stdout, Stderr: &stderr})
			if (err != nil) != c.Error {
				t.Fatalf("error %v, in Python: %v", err, c.Error)
			}
			if err != nil {
				return
			}
			if notes := l.Notes(); notes != nil {
				t.Errorf("notes: %q", notes)
			}
			for _, logger := range []string{"keystone", "keystone.auth", "keystone.access", "keystone.auth.method"} {
				for _, n := range []int{10, 20, 30, 40, 50} {
					slog.New(l.Handler()).Log(context.Background(), levelOf(n), "m"+string(rune('0'+n/10))+"0", Name(logger))
				}
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			got := map[string]string{"stdout": stdout.String(), "stderr": stderr.String()}
			for _, name := range slices.Collect(maps.Keys(filesIn(t, dir))) {
				if name != "logging.conf" {
					got[name] = filesIn(t, dir)[name]
				}
			}
			if d := cmp.Diff(c.Out, got); d != "" {
				t.Errorf("(-Python +here)\n%s", d)
			}
		})
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

func TestFormatsThatAreNotPythons(t *testing.T) {
	form, notes := newText(formats{outside: "%(colour)s %(message)s %( %d 100%", date: "%Q%"}, 1, "")
	if len(notes) != 1 || !strings.Contains(notes[0], "logging_default_format_string: %(colour)") {
		t.Errorf("notes: %q", notes)
	}
	r := recordedRecord(t, nil, 20, 0)
	r.req = noRequest
	if got := string(form.append(nil, r)); got != "- hello 100% wörld %( %d 100%" {
		t.Errorf("got %q", got)
	}
}
