package mariaserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// errNoGalera says what to do where there is no Galera.
var errNoGalera = errors.New("no Galera found in /usr/lib: apt-get install galera-4 mariadb-server rsync (Debian)")

// joinLimit bounds how long a node may take until it answers: it is sent all data
// first.
const joinLimit = 2 * time.Minute

// Cluster is a Galera cluster whose nodes are servers of this machine.
type Cluster struct {
	Nodes []*Node

	end func()
}

// Node is one of them.
type Node struct {
	// URL leads to its database "mysql", as root, over a local port.
	URL string

	cluster *Cluster
	daemon  string
	user    []string
	dir     string
	address string // of clients
	group   string // of the other nodes
	running *proctest.Running
}

// StartCluster starts nodes, each with a data folder of its own. They are gone
// with the process that started them, as with Start.
func StartCluster(nodes int) (*Cluster, error) {
	daemon, install, err := programs()
	if err != nil {
		return nil, err
	}
	provider, err := filepath.Glob("/usr/lib*/galera*/libgalera_smm.so")
	if err != nil || len(provider) == 0 {
		return nil, errNoGalera
	}
	dir, err := os.MkdirTemp("", "keystone-go-galera-")
	if err != nil {
		return nil, err
	}
	end, err := proctest.Guard(endAll, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Cluster{end: end}
	if err := c.prepare(dir, daemon, install, provider[0], nodes); err != nil {
		end()
		return nil, err
	}
	for i, n := range c.Nodes {
		if err := n.start(i == 0); err != nil {
			end()
			return nil, err
		}
	}
	return c, nil
}

// endAll ends what each node has started too: the programs that send its data.
const endAll = `for f in "$1"/*/pid; do
  pid=$(cat "$f" 2>/dev/null) || continue
  kill -s KILL -- "-$pid" 2>/dev/null
  n=0
  while kill -s 0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done
done`

// Stop ends all nodes and removes their folders.
func (c *Cluster) Stop() { c.end() }

// prepare makes the folders: one of data for the first node, from whom the others
// get theirs.
func (c *Cluster) prepare(dir, daemon, install, provider string, nodes int) error {
	who, uid, gid, err := proctest.Ordinary("mysql")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	for i := range nodes {
		n := &Node{cluster: c, daemon: daemon, dir: filepath.Join(dir, fmt.Sprint("node", i))}
		c.Nodes = append(c.Nodes, n)
		if who != "" {
			n.user = []string{"--user=" + who}
		}
		if err := n.configure(provider); err != nil {
			return err
		}
		for _, folder := range []string{"", "tmp", "data"} {
			if who == "" {
				break
			}
			if err := os.Chown(filepath.Join(n.dir, folder), uid, gid); err != nil {
				return err
			}
		}
	}
	members := make([]string, nodes)
	for i, n := range c.Nodes {
		members[i] = n.group
	}
	for _, n := range c.Nodes {
		if err := n.append("wsrep_cluster_address=gcomm://" + strings.Join(members, ",")); err != nil {
			return err
		}
	}
	first := c.Nodes[0]
	fill := exec.Command(install, append([]string{
		"--no-defaults", "--datadir=" + filepath.Join(first.dir, "data"), "--auth-root-authentication-method=normal", "--skip-test-db",
		"--innodb-log-file-size=16M", "--innodb-file-per-table=0",
	}, first.user...)...)
	fill.Dir = first.dir
	if out, err := fill.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(install), err, out)
	}
	return nil
}

// configure writes a node's file: the programs that send data read it as well.
func (n *Node) configure(provider string) error {
	for _, folder := range []string{"", "tmp", "data"} {
		if err := os.Mkdir(filepath.Join(n.dir, folder), 0o755); err != nil {
			return err
		}
	}
	var ports [4]string
	for i := range ports {
		var err error
		if ports[i], err = proctest.FreePort(); err != nil {
			return err
		}
	}
	n.address, n.group = net.JoinHostPort("127.0.0.1", ports[0]), net.JoinHostPort("127.0.0.1", ports[1])
	n.URL = "mysql+pymysql://root@" + n.address + "/mysql"
	lines := []string{"[mysqld]"}
	for _, option := range small[1:] {
		lines = append(lines, strings.TrimPrefix(option, "--"))
	}
	lines = append(lines,
		"datadir="+filepath.Join(n.dir, "data"), "tmpdir="+filepath.Join(n.dir, "tmp"), "socket="+filepath.Join(n.dir, "socket"),
		"pid-file="+filepath.Join(n.dir, "own-pid"), "port="+ports[0], "bind-address=127.0.0.1", "max-connections=300",
		"innodb-lock-wait-timeout=20", "innodb-flush-sync=0", "default-storage-engine=InnoDB", "binlog-format=ROW", "innodb-autoinc-lock-mode=2",
		"wsrep_on=ON", "wsrep_provider="+provider, "wsrep_cluster_name=keystone_go_test", "wsrep_node_name="+filepath.Base(n.dir),
		"wsrep_node_address="+n.group, "wsrep_sst_method=rsync", "wsrep_sst_receive_address="+net.JoinHostPort("127.0.0.1", ports[3]),
		"wsrep_slave_threads=2",
		// A node that is killed is missed within some seconds.
		"wsrep_provider_options=gmcast.listen_addr=tcp://"+n.group+";ist.recv_addr="+net.JoinHostPort("127.0.0.1", ports[2])+
			";gcache.size=16M;evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S;evs.install_timeout=PT4S",
	)
	return os.WriteFile(n.file(), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

func (n *Node) file() string { return filepath.Join(n.dir, "my.cnf") }

func (n *Node) append(line string) error {
	text, err := os.ReadFile(n.file())
	if err != nil {
		return err
	}
	return os.WriteFile(n.file(), append(text, line+"\n"...), 0o644)
}

// start starts the node and waits until it takes connections: it has the data
// then, and is a member.
func (n *Node) start(first bool) (err error) {
	args := append([]string{"--defaults-file=" + n.file()}, n.user...)
	if first {
		args = append(args, "--wsrep-new-cluster")
	}
	n.running, err = proctest.Run(exec.Command(n.daemon, args...), n.dir, n.address, joinLimit)
	return err
}

// Kill ends the node at once, by SIGKILL.
func (n *Node) Kill() error {
	err := n.running.Process.Kill()
	<-n.running.Done
	return err
}

// Join starts a node that was killed again, as a member of what is left.
func (n *Node) Join() error { return n.start(false) }
