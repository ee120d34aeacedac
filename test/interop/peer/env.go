// Package peer stands Python Keystone and keystone-go side by side: both on
// one database of Postgres, or of MariaDB where the environment says so, one key repository and one keystone.conf. It is what
// the tests of make interop start from; test/interop/setup.sh installs what it
// needs.
package peer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/proctest"
)

// Password is the bootstrap administrator's; his name is admin, as are his
// project's and his role's.
const Password = "admin-secret"

// Options say how the two are set up.
type Options struct {
	// GoFirst has keystone-go make the database, the keys and the bootstrap,
	// and Python start on them. The other way round is the ordinary one.
	GoFirst bool
	// Cache is the backend of [cache], with a memcached of its own.
	Cache string
	// Conf adds options to the file of both.
	Conf Conf
	// Processes of uwsgi; 1 when 0.
	Processes int
	// Stopped leaves both servers to be started by the caller, NoPython that
	// one.
	Stopped, NoPython bool
	// Debian has the python3-keystone of Debian's packages make the database,
	// the keys and the bootstrap, and is Stopped.
	Debian bool
}

// Env is the pair and what it stands on.
type Env struct {
	Options
	Dir       string // configuration, keys, logs
	Database  string // SQLAlchemy's URL
	DB        db.DB  // the same, open
	Memcached string // host:port
	Python    *Server
	Go        *Server

	program string // keystone-go
	cache   *process
	debian  *Server
	guard   *guard
	closers []func() error
}

// Start makes an Env that ends with the test; what the servers printed goes
// to the log of a test that failed.
func Start(t testing.TB, o Options) *Env {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range e.Servers() {
				t.Logf("the log of %s:\n%s", s.Name, s.Log())
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Servers gives both, Python's first.
func (e *Env) Servers() []*Server { return []*Server{e.Python, e.Go} }

// Open makes an Env for a whole package of tests. It must be closed.
func Open(o Options) (e *Env, err error) {
	o.Processes = max(o.Processes, 1)
	e = &Env{Options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	steps := []func() error{e.folder, e.build, e.database, e.memcached, e.servers, e.fill}
	if !o.Stopped && !o.Debian {
		steps = append(steps, e.run)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return e, err
		}
	}
	return e, nil
}

// Close ends all that Open started, last things first.
func (e *Env) Close() error {
	var err error
	for i := len(e.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, e.closers[i]())
	}
	e.closers = nil
	return err
}

func (e *Env) later(f func() error) { e.closers = append(e.closers, f) }

func (e *Env) path(name string) string { return filepath.Join(e.Dir, name) }

// Program is the path of keystone-go.
func (e *Env) Program() string { return e.program }

// venv gives a program of Python's environment.
func (e *Env) venv(program string) string { return Venv(program) }

func checkout() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..")
}

// Venv gives a program of the environment that test/interop/setup.sh makes.
func Venv(program string) string {
	return filepath.Join(checkout(), "build", "interop", "venv", "bin", program)
}

func (e *Env) folder() error {
	if _, err := os.Stat(Venv("keystone-manage")); err != nil {
		return errors.New("no Python Keystone is installed: test/interop/setup.sh does it")
	}
	dir, err := os.MkdirTemp("", "keystone-go-interop-")
	if err != nil {
		return err
	}
	e.Dir = dir
	if e.guard, err = newGuard(dir); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	e.later(func() error { e.guard.close(); return nil })
	return errors.Join(
		os.WriteFile(e.path("policy.yaml"), []byte("{}\n"), 0o644),
		os.Mkdir(e.path("policy.d"), 0o755),
		os.Mkdir(e.path("fernet-keys"), 0o700),
		os.Mkdir(e.path("credential-keys"), 0o700),
	)
}

// ProgramEnv names the variable with the path of a built keystone-go to be used;
// without it one is built.
const ProgramEnv = "KEYSTONE_GO_PROGRAM"

var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(ProgramEnv); path != "" {
		return path, nil
	}
	path := filepath.Join(checkout(), "build", "interop", "keystone-go")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/keystone-go")
	cmd.Dir = checkout()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func (e *Env) build() (err error) {
	e.program, err = program()
	return err
}

func (e *Env) servers() error {
	var urls [3]string
	for i := range urls {
		address, err := proctest.FreeAddress()
		if err != nil {
			return err
		}
		urls[i] = "http://" + address
	}
	file := e.path("keystone.conf")
	e.Python = &Server{Name: "python", URL: urls[0], Conf: file, env: e, processes: e.Processes}
	e.Go = &Server{Name: "go", URL: urls[1], AdminURL: urls[2], Conf: file, env: e}
	return e.base().with(e.Options.Conf).write(file)
}

// OfDebian is the Keystone of Debian's packages, on the same file; the caller
// starts and stops it.
func (e *Env) OfDebian() *Server {
	if e.debian == nil {
		e.debian = &Server{Name: "debian", URL: e.Python.URL, Conf: e.Python.Conf, env: e}
		e.later(e.debian.Stop)
	}
	return e.debian
}

// SecondPython makes another server of Python's on the same database, with
// changed options; the caller starts and stops it.
func (e *Env) SecondPython(name string, processes int, changes Conf) (*Server, error) {
	address, err := proctest.FreeAddress()
	if err != nil {
		return nil, err
	}
	s := &Server{Name: "python", URL: "http://" + address, Conf: e.path(name + ".conf"), env: e, processes: processes}
	e.later(s.Stop)
	return s, e.base().with(e.Options.Conf).with(changes).write(s.Conf)
}

// Owner gives the flags that leave key files with whom runs the tests.
func Owner() ([]string, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		return nil, err
	}
	return []string{"--keystone-user", me.Username, "--keystone-group", group.Name}, nil
}

// Bootstrap gives the arguments of the bootstrap that every Env has had.
func (e *Env) Bootstrap() []string {
	u := e.Python.URL + "/v3"
	return []string{
		"bootstrap", "--bootstrap-password", Password, "--bootstrap-region-id", "RegionOne",
		"--bootstrap-public-url", u, "--bootstrap-internal-url", u, "--bootstrap-admin-url", u,
	}
}

// fill makes schema, keys and the first rows by the one of the two whose turn
// it is.
func (e *Env) fill() error {
	owner, err := Owner()
	if err != nil {
		return err
	}
	first := e.Python
	switch {
	case e.GoFirst:
		first = e.Go
	case e.Debian:
		first = e.OfDebian()
	}
	for _, args := range [][]string{
		{"db_sync"},
		append([]string{"fernet_setup"}, owner...),
		append([]string{"credential_setup"}, owner...),
		e.Bootstrap(),
	} {
		if _, err := first.Manage(args...); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) run() error {
	for _, s := range e.Servers() {
		if e.NoPython && s == e.Python {
			continue
		}
		if err := s.Start(); err != nil {
			return err
		}
		e.later(s.Stop)
	}
	return nil
}
