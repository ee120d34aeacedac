// Package proctest starts servers for tests, and ends them however the tests end.
package proctest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Guard starts a shell that waits for the end of our side of a pipe, which
// comes with our own end too. It then runs a script, with arguments from $1 on,
// the first of which is a folder that is removed last.
func Guard(script string, dir string, args ...string) (end func(), err error) {
	script = "trap '' INT TERM HUP\nread -r _\n" + script + "\nrm -rf \"$1\""
	w := exec.Command("sh", append([]string{"-c", script, "sh", dir}, args...)...)
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := w.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	guarded.Store(w, pipe)
	return func() {
		guarded.Delete(w)
		_ = pipe.Close()
		_ = w.Wait()
	}, nil
}

// guarded holds our sides of the pipes: one that nobody refers to any more would
// be closed, though its server is still in use.
var guarded sync.Map

// Ending is a script for Guard that sends a signal to the server which Run has
// started in the folder, and waits for its end, so that nothing is written any
// more.
func Ending(signal string) string {
	return `pid=$(cat "$1/pid" 2>/dev/null)
kill -` + signal + ` "$pid" 2>/dev/null
n=0
while kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done`
}

// Running is a server that Run has started.
type Running struct {
	*exec.Cmd
	Done chan struct{} // closed at its end
}

// Run starts a server in a folder, where its output (log) and its id (pid) are
// kept, and waits until it takes connections. The error has the end of the log.
func Run(c *exec.Cmd, dir, addr string, limit time.Duration) (*Running, error) {
	logFile, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	// No output of ours is handed down: go test would wait for its end.
	c.Dir, c.Stdout, c.Stderr = dir, logFile, logFile
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	if err := c.Start(); err != nil {
		return nil, err
	}
	r := &Running{c, make(chan struct{})}
	go func() {
		_ = c.Wait()
		close(r.Done)
	}()
	if err := os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
		return r, err
	}
	if err := r.ready(addr, limit); err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
		return r, fmt.Errorf("%s: %w\n%s", filepath.Base(c.Path), err, strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return r, nil
}

// given has the ports that FreePort gave in this process.
var given sync.Map

// FreePort finds a port of this machine that nobody listens on, nor on those so
// far above it. It lies below 20,000 and so below what systems give by
// themselves to connections and to listeners that name none: it is free still
// when a server comes to it.
func FreePort(above ...int) (string, error) {
	const lowest, many, tries = 10_000, 10_000, 200
	for range tries {
		port := lowest + rand.IntN(many)
		if _, twice := given.LoadOrStore(port, true); !twice && free(append(above, 0), port) {
			return strconv.Itoa(port), nil
		}
	}
	return "", fmt.Errorf("no port from %d on is free, in %d tries", lowest, tries)
}

// FreeAddress is FreePort at the loopback address, as host:port.
func FreeAddress() (string, error) {
	port, err := FreePort()
	return net.JoinHostPort("127.0.0.1", port), err
}

func free(offsets []int, port int) bool {
	for _, offset := range offsets {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+offset)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// Ordinary finds the first of some users that there is, for servers that do not
// run as root; "" where this process is not root's.
func Ordinary(names ...string) (name string, uid, gid int, err error) {
	if os.Geteuid() != 0 {
		return "", -1, -1, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil {
			return name, uid, gid, nil
		}
	}
	return "", 0, 0, fmt.Errorf("a server does not run as root, and there is no user %s", strings.Join(names, " or "))
}

func (r *Running) ready(addr string, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-r.Done:
			return errors.New("it ended at its start")
		default:
		}
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			return c.Close()
		}
	}
	return errors.New("it did not answer in time")
}
