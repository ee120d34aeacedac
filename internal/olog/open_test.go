package olog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func open(t *testing.T, c Config) (*slog.Logger, *Log) {
	t.Helper()
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return slog.New(l.Handler()), l
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLevels(t *testing.T) {
	var out bytes.Buffer
	log, l := open(t, Config{Stderr: &out, DefaultFormat: "%(name)s %(levelname)s", Levels: []string{"keystone.auth=WARN", "keystone.auth.method=10", "amqp=DEBUG"}})
	say := func() string {
		out.Reset()
		for _, name := range []string{"keystone", "keystone.auth", "keystone.auth.method", "keystone.authx"} {
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
				log.Log(t.Context(), level, "m", Name(name))
			}
		}
		return strings.ReplaceAll(out.String(), "\n", ";")
	}
	want := "keystone INFO;keystone WARNING;keystone.auth WARNING;keystone.auth.method DEBUG;keystone.auth.method INFO;keystone.auth.method WARNING;keystone.authx INFO;keystone.authx WARNING;"
	if got := say(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !log.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("a logger is at DEBUG, and DEBUG is not enabled")
	}
	if err := l.Reload(Config{Stderr: &out, Levels: []string{"keystone=LOUD", "x=1", "y"}}); err == nil || strings.Count(err.Error(), "there is no level") != 2 {
		t.Errorf("error: %v", err)
	}
	if got := say(); got != want {
		t.Errorf("after a bad reload got %s", got)
	}
	if err := l.Reload(Config{Stderr: &out, DefaultFormat: "%(levelno)d", Levels: []string{"keystone=ERROR"}}); err != nil {
		t.Fatal(err)
	}
	if got := say(); got != "" || log.Enabled(t.Context(), slog.LevelWarn) {
		t.Errorf("after a reload got %s", got)
	}
}

func TestFileIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystone.log")
	log, l := open(t, Config{File: path, Watch: true, DefaultFormat: "%(message)s"})
	log.Info("one")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("the file is open to others: %v, %v", info, err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	log.Info("two")
	if got := read(t, path+".1") + read(t, path); got != "one\ntwo\n" {
		t.Errorf("moved away: got %q", got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	log.Info("three")
	if got := read(t, path); got != "three\n" {
		t.Errorf("cut: got %q", got)
	}
	// Without Watch a name is looked at once a second; Reopen does it at once.
	if err := l.Reload(Config{File: path, DefaultFormat: "%(message)s"}); err != nil {
		t.Fatal(err)
	}
	log.Info("four")
	if err := os.Rename(path, path+".2"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	log.Info("five")
	if got := read(t, path); got != "five\n" {
		t.Errorf("opened again: got %q", got)
	}
}

func TestLostLinesAreTold(t *testing.T) {
	dir := t.TempDir()
	var stderr bytes.Buffer
	log, l := open(t, Config{File: filepath.Join(dir, "x.log"), Stderr: &stderr})
	l.tree.sinks[0].(*file).f.Close()
	for range 3 {
		log.Info("lost")
	}
	if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "lines of the log are lost") {
		t.Errorf("got %q", got)
	}
}

func TestOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	for _, c := range []struct {
		name         string
		config       Config
		file, stderr bool
	}{
		{"nothing said", Config{}, false, true},
		{"file", Config{File: path}, true, false},
		{"both", Config{File: path, UseStderr: true}, true, true},
		{"journal alone", Config{UseJournal: true, journalSocket: "/nonexistent"}, false, false},
		{"syslog beside", Config{UseSyslog: true, syslogSocket: "/nonexistent"}, false, true},
	} {
		_ = os.Remove(path)
		var stderr bytes.Buffer
		c.config.Stderr = &stderr
		log, _ := open(t, c.config)
		log.Info("m")
		_, err := os.Stat(path)
		if (err == nil) != c.file || strings.Contains(stderr.String(), "[-] m") != c.stderr {
			t.Errorf("%s: file %v, stderr %q", c.name, err == nil, stderr.String())
		}
	}
}

func TestColors(t *testing.T) {
	var stderr bytes.Buffer
	path := filepath.Join(t.TempDir(), "x.log")
	log, _ := open(t, Config{File: path, UseStderr: true, Color: true, Stderr: &stderr, DefaultFormat: "%(color)s%(levelname)s %(message)s", Debug: true})
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		log.Log(t.Context(), l, "m")
	}
	want := "\x1b[00;32mDEBUG m\x1b[00m\n\x1b[00;36mINFO m\x1b[00m\n\x1b[01;33mWARNING m\x1b[00m\n\x1b[01;31mERROR m\x1b[00m\n"
	if stderr.String() != want || read(t, path) != "DEBUG m\nINFO m\nWARNING m\nERROR m\n" {
		t.Errorf("stderr %q, file %q", stderr.String(), read(t, path))
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.log")
	f, err := openFile(path, false, bySize{max: 10, keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if err := f.write(&record{time: time.Now()}, fmt.Appendf(nil, "m%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path+".2") + "|" + read(t, path+".1") + "|" + read(t, path); got != "m0\nm1\nm2\n|m3\nm4\nm5\n|m6\nm7\nm8\n" {
		t.Errorf("by size: got %q", got)
	}
	timed, err := newByTime("Hours", 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "y.log")
	if f, err = openFile(path, false, timed); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 31, 20, 30, 0, 0, time.UTC)
	for i := range 9 {
		if err := f.write(&record{time: start.Add(time.Duration(i) * time.Hour)}, fmt.Appendf(nil, "m%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path+".2026-02-01_00") + "|" + read(t, path+".2026-02-01_02") + "|" + read(t, path); got != "m4\nm5\n|m6\nm7\n|m8\n" {
		t.Errorf("by time: got %q", got)
	}
	names, _ := filepath.Glob(path + "*")
	if len(names) != 3 {
		t.Errorf("kept %q", names)
	}
}

func TestRotationTimes(t *testing.T) {
	at := time.Date(2026, 1, 31, 20, 30, 0, 0, time.UTC) // a Saturday
	for _, c := range []struct {
		unit string
		n    int
		want string
	}{
		{"seconds", 30, "2026-01-31 20:30:30"},
		{"Minutes", 1, "2026-01-31 20:31:00"},
		{"days", 3, "2026-02-03 20:30:00"},
		{"midnight", 1, "2026-02-01 00:00:00"},
		{"weekday", 5, "2026-02-01 00:00:00"},
		{"weekday", 6, "2026-02-02 00:00:00"},
		{"weekday", 0, "2026-02-03 00:00:00"},
	} {
		b, err := newByTime(c.unit, c.n, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.next(at).Format(time.DateTime); got != c.want {
			t.Errorf("%s %d: got %s, want %s", c.unit, c.n, got, c.want)
		}
	}
	for _, unit := range []string{"weeks", ""} {
		if _, err := newByTime(unit, 1, 0); err == nil {
			t.Errorf("%q is taken", unit)
		}
	}
	if _, err := newByTime("weekday", 7, 0); err == nil {
		t.Error("weekday 7 is taken")
	}
}

func TestThrottle(t *testing.T) {
	var out bytes.Buffer
	_, l := open(t, Config{Stderr: &out, DefaultFormat: "%(levelname)s %(message)s", LimitBurst: 2, LimitSeconds: 5, LimitExcept: "CRITICAL"})
	start := time.Now()
	for i := range 7 {
		level := slog.LevelInfo
		if i == 4 {
			level = slog.LevelError + 4
		}
		r := slog.NewRecord(start.Add(time.Duration(i)*time.Second), level, fmt.Sprint("m", i), 0)
		if err := l.Handler().Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want := "INFO m0\nINFO m1\nERROR Logging rate limit: drop after 2 records/5 sec\nCRITICAL m4\nINFO m5\nINFO m6\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if _, err := Open(Config{LimitBurst: 1, LimitSeconds: 1, LimitExcept: "LOUD"}); err == nil {
		t.Error("a level that there is not is taken")
	}
}

func listenUnix(t *testing.T, network string) (string, *net.UnixConn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	c, err := net.ListenUnixgram(network, &net.UnixAddr{Name: path, Net: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return path, c
}

func receive(t *testing.T, c *net.UnixConn) (text []byte, rights []int) {
	t.Helper()
	b, oob := make([]byte, 1<<20), make([]byte, 1024)
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, m, _, _, err := c.ReadMsgUnix(b, oob)
	if err != nil {
		t.Fatal(err)
	}
	if messages, err := syscall.ParseSocketControlMessage(oob[:m]); err == nil && len(messages) > 0 {
		rights, _ = syscall.ParseUnixRights(&messages[0])
	}
	return b[:n], rights
}

func TestSyslog(t *testing.T) {
	path, c := listenUnix(t, "unixgram")
	var stderr bytes.Buffer
	log, _ := open(t, Config{UseSyslog: true, Facility: "local3", Program: "keystone-manage", syslogSocket: path, Stderr: &stderr, DefaultFormat: "%(message)s", Debug: true})
	for _, l := range []struct {
		level slog.Level
		pri   string
	}{{slog.LevelDebug, "<159>"}, {slog.LevelInfo, "<158>"}, {slog.LevelWarn, "<156>"}, {slog.LevelError, "<155>"}, {slog.LevelError + 4, "<154>"}} {
		log.Log(t.Context(), l.level, "hello")
		text, _ := receive(t, c)
		stamp, rest, _ := strings.Cut(strings.TrimPrefix(string(text), l.pri), " keystone-manage: ")
		if _, err := time.Parse(time.Stamp, stamp); err != nil || rest != "hello" {
			t.Errorf("got %q", text)
		}
	}
	log.Info(strings.Repeat("x", 1<<20))
	if text, _ := receive(t, c); len(text) != cutTo {
		t.Errorf("an overlong line comes as %d bytes", len(text))
	}
	// The daemon is started anew.
	c.Close()
	os.Remove(path)
	again, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	log.Info("back")
	if text, _ := receive(t, again); !strings.HasSuffix(string(text), ": back") {
		t.Errorf("got %q", text)
	}
	if _, err := Open(Config{UseSyslog: true, Facility: "LOG_LOUD"}); err == nil {
		t.Error("a facility that there is not is taken")
	}
}

func TestSyslogOverStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	got := make(chan string, 1)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			got <- err.Error()
			return
		}
		defer c.Close()
		b := make([]byte, 100)
		n, _ := c.Read(b)
		got <- string(b[:n])
	}()
	log, _ := open(t, Config{UseSyslog: true, syslogSocket: path, Stderr: new(bytes.Buffer), DefaultFormat: "%(message)s"})
	log.Info("hello")
	if s := <-got; !strings.HasPrefix(s, "<14>") || !strings.HasSuffix(s, " keystone: hello\x00") {
		t.Errorf("got %q", s)
	}
}

// journalFields reads journald's native form.
func journalFields(t *testing.T, b []byte) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if name, value, ok := bytes.Cut(line, []byte("=")); ok {
			fields[string(name)], b = string(value), rest
			continue
		}
		n := binary.LittleEndian.Uint64(rest)
		fields[string(line)], b = string(rest[8:8+n]), rest[8+n+1:]
	}
	return fields
}

func TestJournal(t *testing.T) {
	path, c := listenUnix(t, "unixgram")
	log, _ := open(t, Config{UseJournal: true, Facility: "LOG_DAEMON", journalSocket: path, ContextFormat: "%(message)s", DefaultFormat: "%(message)s"})
	ctx := WithRequest(t.Context(), &Request{ID: "req-1", User: "u1", UserName: "ana", Project: "p1", ProjectName: "web"})
	log.WarnContext(ctx, "hello", Stack([]byte("one\ntwo")))
	text, _ := receive(t, c)
	got := journalFields(t, text)
	for k, want := range map[string]string{
		"PRIORITY": "4", "SYSLOG_FACILITY": "3", "SYSLOG_IDENTIFIER": "keystone", "LOGGER_NAME": "keystone.olog", "LOGGER_LEVEL": "WARNING",
		"REQUEST_ID": "req-1", "USER_ID": "u1", "USER_NAME": "ana", "PROJECT_ID": "p1", "PROJECT_NAME": "web",
		"CODE_FUNC": "TestJournal", "EXCEPTION_INFO": "one\ntwo", "EXCEPTION_TEXT": "one\ntwo",
	} {
		if got[k] != want {
			t.Errorf("%s: got %q, want %q", k, got[k], want)
		}
	}
	if lines := strings.Split(got["MESSAGE"], "\n"); len(lines) != 3 || lines[0] != "hello" {
		t.Errorf("MESSAGE: %q", got["MESSAGE"])
	}
	if !strings.HasSuffix(got["CODE_FILE"], "open_test.go") || got["CODE_LINE"] == "0" {
		t.Errorf("source: %s:%s", got["CODE_FILE"], got["CODE_LINE"])
	}
	long := strings.Repeat("x", 1<<20)
	log.Info(long)
	text, rights := receive(t, c)
	if len(text) != 0 || len(rights) != 1 {
		t.Fatalf("an overlong record: %d bytes, descriptors %v", len(text), rights)
	}
	f := os.NewFile(uintptr(rights[0]), "fields")
	defer f.Close()
	all := make([]byte, 2<<20)
	n, _ := f.ReadAt(all, 0)
	if got := journalFields(t, all[:n]); got["MESSAGE"] != long {
		t.Errorf("an overlong record: %d bytes of %d", len(got["MESSAGE"]), len(long))
	}
}

func TestPythonClassesWithoutCounterpart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "logging.conf")
	text := `[loggers]
keys=root
[handlers]
keys=mail,sys,udp,bus
[formatters]
keys=context,odd,json
[logger_root]
level=INFO
handlers=mail,bus
[handler_mail]
class=logging.handlers.SMTPHandler
formatter=odd
args=('localhost', 'a', ['b'], 'c')
[handler_sys]
class=handlers.SysLogHandler
args=('/dev/log', handlers.SysLogHandler.LOG_LOCAL7)
[handler_udp]
class=logging.handlers.SysLogHandler
args=(('log.test', handlers.SYSLOG_UDP_PORT), 'daemon')
[handler_bus]
class=oslo_messaging.notify.log_handler.PublishErrorsHandler
formatter=json
args=()
[formatter_context]
class=oslo_log.formatters.ContextFormatter
[formatter_odd]
class=pythonjsonlogger.JsonFormatter
format=%(message)s %(odd)s
[formatter_json]
class=oslo_log.formatters.JSONFormatter
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	log, l := open(t, Config{Append: path, Stderr: &stderr})
	notes := strings.Join(l.Notes(), "\n")
	for _, part := range []string{"handler mail", "SMTPHandler", "handler bus", "formatter odd", "JsonFormatter", "%(odd)", "goes to stderr"} {
		if !strings.Contains(notes, part) {
			t.Errorf("no note of %s in %s", part, notes)
		}
	}
	log.Info("still heard")
	if !strings.Contains(stderr.String(), "still heard") {
		t.Errorf("stderr: %q", stderr.String())
	}
	var found []string
	for _, s := range l.tree.sinks {
		if s, ok := s.(*syslog); ok {
			found = append(found, fmt.Sprintf("%s %s %d", s.network, s.address, s.facility))
		}
	}
	if want := []string{" /dev/log 23", "udp log.test:514 3"}; !slices.Equal(found, want) {
		t.Errorf("syslog: got %q, want %q", found, want)
	}
}

func TestConcurrentLinesAndReloads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	log, l := open(t, Config{File: path, DefaultFormat: "%(message)s"})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 200 {
				log.Info(strings.Repeat(string(rune('a'+i)), 100))
			}
		})
	}
	for i := range 20 {
		if err := l.Reload(Config{File: path, DefaultFormat: "%(message)s", Debug: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
		if err := l.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	lines := strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n")
	if len(lines) != 1600 {
		t.Errorf("got %d lines, want 1600", len(lines))
	}
	for _, s := range lines {
		if len(s) != 100 || strings.Trim(s, s[:1]) != "" {
			t.Fatalf("mixed: %q", s)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	log := slog.New(New(nothing{}, Options{}))
	ctx := WithRequest(b.Context(), &Request{ID: NewRequestID(), User: "u", Project: "p", UserDomain: "default", ProjectDomain: "default"})
	b.ReportAllocs()
	for b.Loop() {
		log.LogAttrs(ctx, slog.LevelInfo, "192.0.2.1 \"GET /v3 HTTP/1.1\" status: 200 len: 260 time: 0.000321", Name("keystone.access"))
	}
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
