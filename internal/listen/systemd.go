package listen

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Manager is the service manager that started the process, told of its state
// as in sd_notify(3). A nil *Manager is told nothing.
type Manager struct {
	address  *net.UnixAddr
	watchdog time.Duration
}

// NewManager finds the manager in the environment; nil where there is none.
func NewManager(env []string, pid int) *Manager {
	name := variable(env, "NOTIFY_SOCKET")
	if name == "" || name[0] != '/' && name[0] != '@' {
		return nil
	}
	m := &Manager{address: &net.UnixAddr{Name: name, Net: "unixgram"}}
	us, err := strconv.ParseInt(variable(env, "WATCHDOG_USEC"), 10, 64)
	own := variable(env, "WATCHDOG_PID")
	if err == nil && us > 0 && (own == "" || own == strconv.Itoa(pid)) {
		m.watchdog = time.Duration(us) * time.Microsecond
	}
	return m
}

// variable is the last value of an environment variable.
func variable(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// Watchdog is how often the manager wants to hear Alive, 0 for never.
func (m *Manager) Watchdog() time.Duration {
	if m == nil {
		return 0
	}
	return m.watchdog
}

// Ready tells that the server serves, also after Reloading.
func (m *Manager) Ready(ctx context.Context, status string) error {
	return m.tell(ctx, "READY=1\nSTATUS="+oneLine(status))
}

// Reloading tells that the configuration is being read again.
func (m *Manager) Reloading(ctx context.Context) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return err
	}
	return m.tell(ctx, fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d\nSTATUS=Reading the configuration", now.Nano()/1000))
}

// Stopping tells that the server is on its way out.
func (m *Manager) Stopping(ctx context.Context, status string) error {
	return m.tell(ctx, "STOPPING=1\nSTATUS="+oneLine(status))
}

// Alive keeps the watchdog quiet.
func (m *Manager) Alive(ctx context.Context) error { return m.tell(ctx, "WATCHDOG=1") }

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

func (m *Manager) tell(ctx context.Context, state string) error {
	if m == nil {
		return nil
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, m.address.Net, m.address.Name)
	if err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	defer c.Close()
	if _, err = c.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	return nil
}

// Socket is a listener that the service manager has opened.
type Socket struct {
	Name string // FileDescriptorName= of the socket unit
	net.Listener
}

// firstSocket is the first descriptor of sd_listen_fds(3).
const firstSocket = 3

// Activated takes over the sockets that the manager passes, none where it
// passes none. It may be called once.
func Activated(env []string, pid int) ([]Socket, error) {
	if variable(env, "LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	n, err := strconv.Atoi(variable(env, "LISTEN_FDS"))
	if err != nil || n < 0 || n > 1024 {
		return nil, fmt.Errorf("LISTEN_FDS = %q is no number of sockets", variable(env, "LISTEN_FDS"))
	}
	names := strings.Split(variable(env, "LISTEN_FDNAMES"), ":")
	var out []Socket
	for i := range n {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		l, err := adopt(firstSocket+i, name)
		if err != nil {
			return nil, fmt.Errorf("socket %q of the service manager: %w", name, err)
		}
		out = append(out, Socket{name, l})
	}
	return out, nil
}

// adopt makes a listener of a descriptor, which children do not inherit.
func adopt(fd int, name string) (net.Listener, error) {
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), name)
	if f == nil {
		return nil, os.ErrInvalid
	}
	defer f.Close()
	return net.FileListener(f) // of a copy
}
