package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// StartTLS is Start for a server that speaks TLS alone.
func StartTLS(t testing.TB, args ...string) *Server {
	t.Helper()
	port := freePort(t)
	// The port given last holds: no plain one.
	return start(t, port, append([]string{"--tls-port", port, "--port", "0"}, args...)...)
}

// StartSentinel starts a Sentinel that watches a primary by that name, alone,
// and acts after a second without an answer.
func StartSentinel(t testing.TB, name, primary string) *Server {
	t.Helper()
	host, port, err := net.SplitHostPort(primary)
	if err != nil {
		t.Fatal(err)
	}
	// A Sentinel writes its state into its file.
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor %[1]s %s %s 1\nsentinel down-after-milliseconds %[1]s 1000\nsentinel failover-timeout %[1]s 5000\n", name, host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, freePort(t), file, "--sentinel")
}

// StartCluster starts a cluster of primaries that share the slots evenly.
func StartCluster(t testing.TB, size int) []*Server {
	t.Helper()
	nodes := make([]*Server, size)
	const slots = 16384
	for i := range nodes {
		nodes[i] = Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
		nodes[i].Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*slots/size), strconv.Itoa((i+1)*slots/size-1))
		nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for _, n := range nodes[1:] {
		host, port, _ := net.SplitHostPort(nodes[0].Addr)
		n.Do("CLUSTER", "MEET", host, port)
	}
	for _, n := range nodes {
		n.Until("the cluster is whole", func() bool {
			text := fmt.Sprint(n.Do("CLUSTER", "INFO"))
			return strings.Contains(text, "cluster_state:ok") && strings.Contains(text, "cluster_size:"+strconv.Itoa(size))
		})
	}
	return nodes
}

// Until waits for something to become true.
func (s *Server) Until(what string, true func() bool) {
	s.t.Helper()
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if true() {
			return
		}
	}
	s.t.Fatalf("redistest: not so in time: %s", what)
}
