// Package mariaserver runs a MariaDB server of its own in a temporary folder,
// for tests. The server and the folder are gone when the process that started
// it is, whatever it ended by.
package mariaserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// errNoServer says what to do where there is no MariaDB.
var errNoServer = errors.New("no MariaDB server found on PATH or in /usr/sbin: apt-get install mariadb-server (Debian), dnf install mariadb-server (Fedora), brew install mariadb (macOS)")

// startLimit bounds how long a server may take to answer.
const startLimit = time.Minute

// Server is a running server.
type Server struct {
	// URL leads to its database "mysql", as root, over a local port.
	URL string
	// Socket is where it listens as well.
	Socket string

	end func()
}

// small has no test wait for the disk, nor a data folder be larger than it must:
// a server lives as long as one test run.
var small = []string{
	"--no-defaults", "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-doublewrite=0",
	"--innodb-file-per-table=0", "--innodb-buffer-pool-size=64M", "--innodb-stats-persistent=0", "--innodb-use-native-aio=0", "--sync-frm=OFF",
	"--skip-log-bin", "--skip-name-resolve", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
}

// Start makes a data folder and starts a server on it, as an ordinary user:
// the caller, or in place of root "mysql" or "nobody". Arguments are added to
// those of the server.
func Start(args ...string) (*Server, error) {
	daemon, install, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "keystone-go-maria-")
	if err != nil {
		return nil, err
	}
	common := append(append([]string{}, small...), "--datadir="+filepath.Join(dir, "data"))
	// Root's server has to be told whose it is.
	if who, uid, gid, err := proctest.Ordinary("mysql", "nobody"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	} else if who != "" {
		common = append(common, "--user="+who)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	make := exec.Command(install, append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...)
	make.Dir = dir
	if out, err := make.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w\n%s", filepath.Base(install), err, out), os.RemoveAll(dir))
	}
	s, err := start(exec.Command(daemon, append(common, args...)...), dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func start(server *exec.Cmd, dir string) (*Server, error) {
	port, err := proctest.FreePort()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "socket")
	server.Args = append(server.Args, "--socket="+socket, "--pid-file="+filepath.Join(dir, "own-pid"),
		"--port="+port, "--bind-address=127.0.0.1", "--max-connections=800", "--innodb-lock-wait-timeout=20", "--innodb-flush-sync=0")
	end, err := proctest.Guard(proctest.Ending("KILL"), dir)
	if err != nil {
		return nil, err
	}
	if _, err := proctest.Run(server, dir, net.JoinHostPort("127.0.0.1", port), startLimit); err != nil {
		end()
		return nil, err
	}
	return &Server{URL: "mysql+pymysql://root@127.0.0.1:" + port + "/mysql", Socket: socket, end: end}, nil
}

// Stop ends the server, removes its folder and waits for both.
func (s *Server) Stop() { s.end() }

// programs finds the server and the program that makes its data folder.
func programs() (daemon, install string, err error) {
	if daemon, err = program("mariadbd", "mysqld"); err != nil {
		return "", "", err
	}
	install, err = program("mariadb-install-db", "mysql_install_db")
	return daemon, install, err
}

// program finds the first that there is.
func program(names ...string) (string, error) {
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
		if p := filepath.Join("/usr/sbin", name); isFile(p) {
			return p, nil
		}
	}
	return "", errNoServer
}

func isFile(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode().IsRegular()
}
