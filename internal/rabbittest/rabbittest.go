// Package rabbittest runs RabbitMQ servers of its own for tests, as whatever
// user runs the tests. They, Erlang's port mapper and their folders are gone
// when the process that started them is, whatever it ended by.
package rabbittest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// scripts are where distributions keep the server's own script. What Debian
// has on PATH runs as its own user alone.
var scripts = []string{"/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/local/sbin/rabbitmq-server", "/opt/homebrew/sbin/rabbitmq-server"}

// startLimit bounds how long a server may take to answer.
const startLimit = 120 * time.Second

// TLS are files in PEM form, for a server that speaks nothing else.
type TLS struct{ CA, Cert, Key string }

// Server is a running server, or one that was killed.
type Server struct {
	Addr string // host:port
	t    testing.TB
	dir  string
	env  []string
	run  *proctest.Running
}

// Start starts a server for the length of a test. A missing program fails the
// test; nothing is skipped.
func Start(t testing.TB, secure *TLS) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "keystone-go-rabbit-")
	if err != nil {
		t.Fatal(err)
	}
	ports := []string{freePort(t), freePort(t), freePort(t)}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", ports[0]), t: t, dir: dir}
	if err := s.files(ports[0], secure); err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(),
		"HOME="+dir, "RABBITMQ_NODENAME=t"+ports[0]+"@localhost", "RABBITMQ_DIST_PORT="+ports[1], "ERL_EPMD_PORT="+ports[2], "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_MNESIA_BASE="+s.path("mnesia"), "RABBITMQ_LOG_BASE="+dir, "RABBITMQ_LOGS=-", "RABBITMQ_PID_FILE="+s.path("own-pid"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+s.path("plugins"), "RABBITMQ_CONFIG_FILE="+s.path("rabbit"), "RABBITMQ_CONF_ENV_FILE="+s.path("none"),
		"RABBITMQ_GENERATED_CONFIG_DIR="+dir,
		// A test has no use for more than one thread of Erlang's, or for tables
		// of a million processes.
		"RABBITMQ_SERVER_ERL_ARGS=+P 65536 +t 1048576 +S 1:1 +sbwt none")
	end, err := proctest.Guard(ending, dir, ports[2])
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

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Server) files(port string, secure *TLS) error {
	// loopback_users: guest may come from anywhere, which is here alone.
	conf := "loopback_users = none\nlog.console = true\nlog.file = false\n"
	if secure == nil {
		conf += "listeners.tcp.default = 127.0.0.1:" + port + "\n"
	} else {
		conf += fmt.Sprintf("listeners.tcp = none\nlisteners.ssl.default = 127.0.0.1:%s\nssl_options.cacertfile = %s\nssl_options.certfile = %s\nssl_options.keyfile = %s\n", port, secure.CA, secure.Cert, secure.Key)
	}
	return errors.Join(os.WriteFile(s.path("plugins"), []byte("[]."), 0o600), os.WriteFile(s.path("rabbit.conf"), []byte(conf), 0o600))
}

// Restart starts a server that was killed again, at its old address, with what
// it kept on disk.
func (s *Server) Restart() {
	s.t.Helper()
	program, err := find()
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = s.env
	if s.run, err = proctest.Run(c, s.dir, s.Addr, startLimit); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() {
	if s.run == nil {
		return
	}
	_ = syscall.Kill(-s.run.Process.Pid, syscall.SIGKILL)
	<-s.run.Done
}

func find() (string, error) {
	for _, path := range scripts {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("no rabbitmq-server found: apt-get install rabbitmq-server (Debian), brew install rabbitmq (macOS)")
}

// ending ends the server and, once that does not hold it any more, Erlang's port
// mapper.
const ending = `kill -KILL -"$(cat "$1/pid")" 2>/dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do
  epmd -port "$2" -names >/dev/null 2>&1 || break
  epmd -port "$2" -kill >/dev/null 2>&1
  sleep 0.2
done`

func freePort(t testing.TB) string {
	t.Helper()
	port, err := proctest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
