package peer

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Server is one of the two programs, on the database of its Env.
type Server struct {
	Name     string // "python", "debian" or "go"
	URL      string // http://host:port
	AdminURL string // the same of the metrics listener; keystone-go's alone
	Conf     string // its keystone.conf

	env       *Env
	processes int // of uwsgi
	running   *process
}

// debianPython is the interpreter for which Debian's packages are.
const debianPython = "/usr/bin/python3"

// startLimit bounds a start: Python imports for long on a busy machine.
const startLimit = 3 * time.Minute

// Start starts the server and waits until it answers.
func (s *Server) Start() error {
	if s.running != nil {
		return fmt.Errorf("%s is running already", s.Name)
	}
	var (
		p   *process
		err error
	)
	conf := []string{"OS_KEYSTONE_CONFIG_FILES=" + s.Conf}
	switch s.Name {
	case "go":
		p, err = s.env.launch("keystone-go", nil, s.env.program, "--config-file", s.Conf, "serve")
	case "debian":
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
		p, err = s.env.launch("debian", conf, debianPython, "/usr/bin/keystone-wsgi-public", "--host", "127.0.0.1", "--port", port)
	default:
		p, err = s.env.launch("uwsgi", conf, s.env.venv("uwsgi"), s.uwsgi()...)
	}
	if err != nil {
		return err
	}
	if err := p.ready(startLimit, s.Answers); err != nil {
		p.kill()
		return err
	}
	s.running = p
	return nil
}

// uwsgi gives the options with which clouds run Keystone.
func (s *Server) uwsgi() []string {
	return []string{
		"--http-socket", strings.TrimPrefix(s.URL, "http://"), "--module", "keystone.wsgi.api:application",
		"--master", "--lazy-apps", "--need-app", "--processes", fmt.Sprint(s.processes), "--threads", "1", "--enable-threads",
		"--thunder-lock", "--buffer-size", "65535", "--post-buffering", "8192", "--listen", "100",
		"--die-on-term", "--no-orphans", "--disable-logging", "--add-header", "Connection: close",
	}
}

// Answers tells whether the server answers.
func (s *Server) Answers() bool {
	c := http.Client{Timeout: 30 * time.Second}
	r, err := c.Get(s.URL + "/v3")
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// Stop ends the server as its operator does, by SIGTERM.
func (s *Server) Stop() error {
	if s.running == nil {
		return nil
	}
	p := s.running
	s.running = nil
	err := p.stop()
	// uwsgi ends with the signal's number, Debian's program by the signal.
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && s.Name != "go" && exit.ExitCode() != 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the end of %s: %w\n%s", s.Name, err, p.tail())
	}
	return nil
}

// Processor is the processor time that the server has taken since its start,
// with all processes that belong to it.
func (s *Server) Processor() (time.Duration, error) {
	if s.running == nil {
		return 0, fmt.Errorf("%s is not running", s.Name)
	}
	return s.running.processor()
}

// Log is the end of what the server printed.
func (s *Server) Log() string {
	if s.running == nil {
		return ""
	}
	return s.running.tail()
}

// Command makes a call of keystone-manage: Python's, or keystone-go's verb of
// the same name.
func (s *Server) Command(args ...string) *exec.Cmd {
	args = append([]string{"--config-file", s.Conf}, args...)
	cmd := exec.Command(s.env.program, args...)
	switch s.Name {
	case "python":
		cmd = exec.Command(s.env.venv("keystone-manage"), args...)
	case "debian":
		cmd = exec.Command(debianPython, append([]string{"/usr/bin/keystone-manage"}, args...)...)
	}
	cmd.Dir, cmd.Env = s.env.Dir, os.Environ()
	return cmd
}

// Manage runs keystone-manage to its end. The error holds what it printed.
func (s *Server) Manage(args ...string) (string, error) {
	out, err := s.Command(args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("keystone-manage %s (%s): %w\n%s", args[0], s.Name, err, out)
	}
	return string(out), nil
}

// MustManage is Manage for a test that cannot go on without.
func (s *Server) MustManage(t testing.TB, args ...string) string {
	t.Helper()
	out, err := s.Manage(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
