// Package pgserver runs a Postgres server of its own in a temporary folder,
// for tests. The server and the folder are gone when the process that started
// it is, whatever it ended by.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

	end func()
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
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-p", port, "-h", "127.0.0.1",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off",
		"-c", "deadlock_timeout=100ms", "-c", "max_connections=400", "-c", "shared_buffers=64MB", "-c", "max_wal_size=2GB", "-c", "logging_collector=off")
	server.SysProcAttr = attr
	end, err := proctest.Guard(proctest.Ending("QUIT"), dir)
	if err != nil {
		return nil, err
	}
	run, err := proctest.Run(server, dir, net.JoinHostPort("127.0.0.1", port), startLimit)
	if err == nil {
		err = ready(run, port)
	}
	if err != nil {
		end()
		return nil, err
	}
	return &Server{URL: "postgresql://postgres@127.0.0.1:" + port + "/postgres", end: end}, nil
}

// Stop ends the server, removes its folder and waits for both.
func (s *Server) Stop() { s.end() }

// ready waits until the server, which takes connections already, asks one for a
// password or none, which it does once it is through its start.
func ready(run *proctest.Running, port string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for !greets(ctx, port) {
		select {
		case <-run.Done:
			return errors.New("postgres ended at its start")
		case <-ctx.Done():
			return errors.New("postgres did not answer in time")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
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
	attr = &syscall.SysProcAttr{}
	who, uid, gid, err := proctest.Ordinary("postgres", "nobody")
	if who != "" {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return attr, uid, gid, err
}
