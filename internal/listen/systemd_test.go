package listen_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/listen"
)

// manager is the side of the service manager.
func manager(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func heard(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 4096)
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestManagerIsTold(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), fmt.Sprintf("@keystone-go-test-%d", os.Getpid())} {
		c := manager(t, name)
		m := listen.NewManager([]string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=3000000", "WATCHDOG_PID=7"}, 7)
		if got := m.Watchdog(); got != 3*time.Second {
			t.Errorf("watchdog: %v", got)
		}
		for _, s := range []struct {
			tell func() error
			want string
		}{
			{func() error { return m.Ready(t.Context(), "one\ntwo") }, `^READY=1\nSTATUS=one; two$`},
			{func() error { return m.Reloading(t.Context()) }, `^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+\nSTATUS=.+$`},
			{func() error { return m.Stopping(t.Context(), "bye") }, `^STOPPING=1\nSTATUS=bye$`},
			{func() error { return m.Alive(t.Context()) }, `^WATCHDOG=1$`},
		} {
			if err := s.tell(); err != nil {
				t.Errorf("%s: %v", s.want, err)
				continue
			}
			if got := heard(t, c); !regexp.MustCompile(s.want).MatchString(got) {
				t.Errorf("got %q, want %s", got, s.want)
			}
		}
	}
}

func TestNoManager(t *testing.T) {
	for _, env := range [][]string{nil, {"NOTIFY_SOCKET="}, {"NOTIFY_SOCKET=vsock:2:1"}, {"NOTIFY_SOCKET=relative"}} {
		m := listen.NewManager(env, 7)
		if m != nil || m.Watchdog() != 0 || m.Ready(t.Context(), "") != nil {
			t.Errorf("%q: a manager", env)
		}
	}
	for _, watchdog := range [][]string{{"WATCHDOG_USEC=1000000", "WATCHDOG_PID=8"}, {"WATCHDOG_USEC=x"}, {"WATCHDOG_USEC=-1"}, {}} {
		m := listen.NewManager(append(watchdog, "NOTIFY_SOCKET=/none"), 7)
		if m.Watchdog() != 0 {
			t.Errorf("%q: a watchdog", watchdog)
		}
		if err := m.Ready(t.Context(), ""); err == nil {
			t.Error("a manager that is gone: no error")
		}
	}
	for _, env := range [][]string{nil, {"LISTEN_FDS=2"}, {"LISTEN_FDS=2", "LISTEN_PID=8"}} {
		if got, err := listen.Activated(env, 7); got != nil || err != nil {
			t.Errorf("%q: %v, %v", env, got, err)
		}
	}
	for _, n := range []string{"x", "-1", "100000", ""} {
		if _, err := listen.Activated([]string{"LISTEN_PID=7", "LISTEN_FDS=" + n}, 7); err == nil {
			t.Errorf("LISTEN_FDS=%s: no error", n)
		}
	}
}

func TestUnixSocketMode(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
		path := filepath.Join(dir, fmt.Sprintf("%o.sock", mode))
		l, err := listen.Open(t.Context(), "unix:"+path, listen.Unix{Mode: mode, Group: fmt.Sprint(os.Getgid())})
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode || int(info.Sys().(*syscall.Stat_t).Gid) != os.Getgid() {
			t.Errorf("%o: %v, %v", mode, info.Mode(), err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if os.Geteuid() == 0 {
		path := filepath.Join(dir, "group.sock")
		l, err := listen.Open(t.Context(), "unix:"+path, listen.Unix{Mode: 0o660, Group: "65534"})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Gid != 65534 {
			t.Errorf("group: %v, %v", info, err)
		}
	}
	path := filepath.Join(dir, "none.sock")
	if _, err := listen.Open(t.Context(), "unix:"+path, listen.Unix{Mode: 0o660, Group: "no such group"}); err == nil || !strings.Contains(err.Error(), "no such group") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a socket without its group stays")
	}
}
