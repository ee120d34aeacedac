// Package pgserver runs a Postgres server of its own in a temporary folder,
// for tests. The server and the folder are gone when the process that started
// it is, whatever it ended by.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// errNoServer says what to do where there is no Postgres.
var errNoServer = errors.New("no Postgres server found on PATH or in /usr/lib/postgresql/*/bin: apt-get install postgresql (Debian), dnf install postgresql-server (Fedora), brew install postgresql (macOS)")

// Server is a running server.
type Server struct {
	// URL leads to its database "postgres", as a superuser, over a local port.
	URL string

	done    chan struct{} // the server has ended
	watch   io.Closer
	cleared chan struct{} // the folder is gone
}

// startLimit bounds how long a server may take to answer.
const startLimit = time.Minute

// Start makes a data folder and starts a server on it, as an ordinary user:
// the caller, or in place of root "postgres" or "nobody".
func Start() (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	attr, uid, gid, err := ordinary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "keystone-go-pg-")
	if err != nil {
		return nil, err
	}
	s, err := start(bin, dir, attr, uid, gid)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func start(bin, dir string, attr *syscall.SysProcAttr, uid, gid int) (*Server, error) {
	if uid >= 0 {
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	init := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	init.Dir, init.SysProcAttr = dir, attr
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := proctest.FreePort()
	if err != nil {
		return nil, err
	}
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-p", port, "-h", "127.0.0.1",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off",
		"-c", "deadlock_timeout=100ms", "-c", "max_connections=400", "-c", "shared_buffers=64MB", "-c", "max_wal_size=2GB", "-c", "logging_collector=off")
	// No output of ours is handed down: go test would wait for its end.
	server.Dir, server.SysProcAttr, server.Stdout, server.Stderr = dir, attr, logFile, logFile
	if err := server.Start(); err != nil {
		return nil, err
	}
	s := &Server{URL: "postgresql://postgres@127.0.0.1:" + port + "/postgres", done: make(chan struct{}), cleared: make(chan struct{})}
	go func() {
		_ = server.Wait()
		close(s.done)
	}()
	if err := s.guard(server.Process.Pid, dir); err != nil {
		return nil, errors.Join(err, server.Process.Kill())
	}
	if err := s.ready(port); err != nil {
		text, _ := os.ReadFile(logFile.Name())
		s.Stop()
		return nil, fmt.Errorf("%w\n%s", err, tail(text))
	}
	return s, nil
}

// Stop ends the server, removes its folder and waits for both.
func (s *Server) Stop() {
	_ = s.watch.Close()
	<-s.cleared
}

// guard starts a shell that waits for the end of our side of a pipe, which comes
// with our own end too, and then stops the server and removes the folder.
func (s *Server) guard(pid int, dir string) error {
	const script = `trap '' INT TERM HUP
read -r _
kill -QUIT "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done
rm -rf "$2"`
	w := exec.Command("sh", "-c", script, "sh", strconv.Itoa(pid), dir)
	w.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := w.StdinPipe()
	if err != nil {
		return err
	}
	s.watch = pipe
	if err := w.Start(); err != nil {
		return err
	}
	go func() {
		_ = w.Wait()
		close(s.cleared)
	}()
	return nil
}

// ready waits until the server takes a connection and asks for a password or
// none, which it does once it is through its start.
func (s *Server) ready(port string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for {
		select {
		case <-s.done:
			return errors.New("postgres ended at its start")
		case <-ctx.Done():
			return errors.New("postgres did not answer in time")
		case <-time.After(20 * time.Millisecond):
		}
		if greets(ctx, port) {
			return nil
		}
	}
}

// greets sends the start-up message of protocol 3.0 and looks for "R", the
// first byte of an authentication answer.
func greets(ctx context.Context, port string) bool {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	body := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	if _, err := c.Write(append([]byte{0, 0, 0, byte(len(body) + 4)}, body...)); err != nil {
		return false
	}
	first := make([]byte, 1)
	_, err = io.ReadFull(c, first)
	return err == nil && first[0] == 'R'
}

// binaries gives the folder of initdb and postgres.
func binaries() (string, error) {
	if p, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(p), "initdb")); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	best, version := "", -1
	for _, p := range found {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(p)))); err == nil && v > version {
			best, version = filepath.Dir(p), v
		}
	}
	if best == "" {
		return "", errNoServer
	}
	return best, nil
}

// ordinary gives the process attributes, and the owner of the folder when it
// is not us (-1). Postgres refuses to run as root.
func ordinary() (attr *syscall.SysProcAttr, uid, gid int, err error) {
	attr = &syscall.SysProcAttr{Setpgid: true}
	who, uid, gid, err := proctest.Ordinary("postgres", "nobody")
	if who != "" {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return attr, uid, gid, err
}

func tail(b []byte) string {
	lines := strings.Split(string(bytes.TrimSpace(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
