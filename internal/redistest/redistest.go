// Package redistest runs Redis servers of its own for tests: alone, with
// replicas and Sentinels, and as a cluster. They and their folders are gone
// when the process that started them is, whatever it ended by.
package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// errNoServer says what to do where there is no Redis.
var errNoServer = errors.New("no redis-server found on PATH: apt-get install redis-server (Debian), dnf install redis (Fedora), brew install redis (macOS)")

// startLimit bounds how long a server may take to answer.
const startLimit = 30 * time.Second

// Server is a running server, or one that was killed.
type Server struct {
	Addr string // host:port
	t    testing.TB
	dir  string
	args []string

	mu  sync.Mutex
	run *proctest.Running
}

// Start starts a server for the length of a test; args are options as on its
// command line. A missing program fails the test; nothing is skipped.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, freePort(t), args...)
}

func start(t testing.TB, port string, args ...string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "keystone-go-redis-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), t: t, dir: dir, args: arguments(port, dir, args)}
	end, err := proctest.Guard(`kill -KILL "$(cat "$1/pid")" 2>/dev/null`, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		end()
	})
	s.Restart()
	return s
}

// arguments has a file of settings first, if there is one.
func arguments(port, dir string, args []string) []string {
	var all []string
	if len(args) > 0 && args[0][0] == '/' {
		all, args = append(all, args[0]), args[1:]
	}
	all = append(all, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--protected-mode", "no")
	if !slices.Contains(args, "--sentinel") {
		all = append(all, "--save", "", "--appendonly", "no")
	}
	return append(all, args...)
}

// Restart starts a server that was killed again, empty and at its old address.
func (s *Server) Restart() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal(errNoServer)
	}
	if s.run, err = proctest.Run(exec.Command(program, s.args...), s.dir, s.Addr, startLimit); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return // it did not start
	}
	_ = s.run.Process.Signal(sig)
	<-s.run.Done
}

// Pause stops the server where it is: connections stay open and nothing is
// answered.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume goes on after Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.run.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	port, err := proctest.FreePort(10_000) // a node of a cluster has a second one, so far above
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Stat reads a number out of an INFO section, such as total_commands_processed.
func (s *Server) Stat(section, name string) int64 {
	s.t.Helper()
	for line := range strings.Lines(fmt.Sprint(s.Do("INFO", section))) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return n
		}
	}
	s.t.Fatalf("redistest: INFO %s has no %s", section, name)
	return 0
}
