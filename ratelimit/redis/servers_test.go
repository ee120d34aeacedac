package redis_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/redis"
)

// RL-R12: a replica is promoted that has none of the last writes. What is lost
// is one burst of each key; the errors are those of the moment without a
// primary.
func TestRL_R12(t *testing.T) {
	primary := redistest.Start(t)
	link := redistest.Between(t, primary.Addr) // replication goes through here
	_, port, _ := net.SplitHostPort(link.Addr)
	replica := redistest.Start(t, "--replicaof", "127.0.0.1 "+port)
	replica.Until("the replica follows", func() bool {
		return strings.Contains(fmt.Sprint(replica.Do("INFO", "replication")), "master_link_status:up")
	})
	vip := redistest.Between(t, primary.Addr)
	c := dial(t, redis.Config{URL: "redis://" + vip.Addr, Budget: 5 * time.Second})
	st := open(t, c, spec("r12", 1, time.Hour, 10))
	take(t, st, key(1), 3)
	replica.Until("the first charge is copied", func() bool { return len(replica.Do("KEYS", "*").([]any)) == 1 })
	link.Lose(true)
	admitted := int64(3)
	for range 20 {
		if take(t, st, key(1), 1).Allowed {
			admitted++
		}
	}
	primary.Kill()
	replica.Do("REPLICAOF", "NO", "ONE")
	vip.To(replica.Addr)
	vip.Cut()
	failed := 0
	for range 40 {
		d, err := st.Take(t.Context(), key(1), 1)
		switch {
		case err != nil:
			failed++
		case d.Allowed:
			admitted++
		}
	}
	// Three were copied before the link was cut, so seven are forgotten.
	if admitted != 17 || failed > 5 {
		t.Errorf("%d were admitted, want 17; %d checks failed", admitted, failed)
	}
}

// Sentinels say which server is the primary; a failover is followed, and
// between the two the breaker keeps the failures short.
func TestSentinel(t *testing.T) {
	primary := redistest.Start(t)
	host, port, _ := net.SplitHostPort(primary.Addr)
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	replica.Until("the replica follows", func() bool {
		return strings.Contains(fmt.Sprint(replica.Do("INFO", "replication")), "master_link_status:up")
	})
	sentinel := redistest.StartSentinel(t, "limits", primary.Addr)
	sentinel.Until("the sentinel knows the replica", func() bool {
		all, _ := sentinel.Try("SENTINEL", "REPLICAS", "limits")
		list, _ := all.([]any)
		return len(list) == 1
	})
	c := dial(t, redis.Config{URL: "redis://" + sentinel.Addr, SentinelMaster: "limits", Budget: 5 * time.Second, DialTimeout: 5 * time.Second})
	st := open(t, c, spec("sentinel", 1, time.Hour, 1000))
	take(t, st, key(1), 10)
	// WAIT would wait for writes of its own connection alone.
	replica.Until("the replica has the charge", func() bool {
		all, _ := replica.Do("KEYS", "*").([]any)
		return len(all) == 1
	})
	primary.Kill()
	begin, failed := time.Now(), 0
	for time.Since(begin) < 60*time.Second {
		d, err := st.Take(t.Context(), key(1), 1)
		if err == nil {
			if d.Remaining != 989 {
				t.Errorf("after the failover: %+v, want 989 to remain", d)
			}
			t.Logf("followed after %v and %d failures", time.Since(begin), failed)
			return
		}
		failed++
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("no check worked in a minute, %d failed", failed)
}

// RL-R13: a slot moves from one node to another while it is charged. ASK and
// MOVED are followed, and each check is one charge.
func TestRL_R13(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	c := dial(t, redis.Config{URL: "redis://" + nodes[0].Addr, Cluster: true, Budget: patient, DialTimeout: patient})
	st := open(t, c, spec("r13", 1, time.Hour, 100))
	left := int64(100)
	charge := func(when string) {
		t.Helper()
		left--
		if d := take(t, st, key(1), 1); !d.Allowed || d.Remaining != left {
			t.Errorf("%s: %+v, want %d to remain", when, d, left)
		}
	}
	charge("at first")
	charge("again")
	var from, to *redistest.Server
	name := ""
	for _, n := range nodes {
		if all := n.Do("KEYS", "*").([]any); len(all) == 1 {
			from, name = n, all[0].(string)
		} else {
			to = n
		}
	}
	slot := strconv.FormatInt(from.Do("CLUSTER", "KEYSLOT", name).(int64), 10)
	fromID, toID := from.Do("CLUSTER", "MYID").(string), to.Do("CLUSTER", "MYID").(string)
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	charge("the slot is marked, the key not moved")
	host, port, _ := net.SplitHostPort(to.Addr)
	from.Do("MIGRATE", host, port, name, "0", "5000")
	for range 3 {
		charge("the key is moved: ASK")
	}
	for _, n := range nodes {
		n.Do("CLUSTER", "SETSLOT", slot, "NODE", toID)
	}
	for range 3 {
		charge("the slot is moved: MOVED")
	}
	if n := len(from.Do("KEYS", "*").([]any)) + len(to.Do("KEYS", "*").([]any)); n != 1 {
		t.Errorf("%d keys, want 1", n)
	}
}

// On a cluster too a lost answer is not asked for again.
func TestClusterNothingTwice(t *testing.T) {
	node := redistest.StartCluster(t, 1)[0]
	p := redistest.Between(t, node.Addr)
	// The cluster tells its nodes' addresses: tell it the proxy's.
	host, port, _ := net.SplitHostPort(p.Addr)
	node.Do("CONFIG", "SET", "cluster-announce-ip", host)
	node.Do("CONFIG", "SET", "cluster-announce-port", port)
	c := dial(t, redis.Config{URL: "redis://" + p.Addr, Cluster: true, Budget: 2 * time.Second, DialTimeout: patient})
	st := open(t, c, spec("twice", 1, time.Hour, 10))
	take(t, st, key(1), 1)
	lose(t, p, st)
	for range 100 { // the client may need a moment to see its nodes again
		d, err := st.Take(t.Context(), key(1), 0)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if d.Remaining != 7 {
			t.Errorf("%d were charged, want 3", 10-d.Remaining)
		}
		return
	}
	t.Error("the cluster is not found again")
}

// On a cluster the keys of one address are in one place, and decided in one
// call; another caller's are charged apart and given back.
func TestClusterTogether(t *testing.T) {
	nodes := redistest.StartCluster(t, 3)
	c := dial(t, redis.Config{URL: "redis://" + nodes[1].Addr, Cluster: true, Budget: patient, DialTimeout: patient})
	a, b := limiter(t, c, spec("a", 1, time.Hour, 5)), limiter(t, c, spec("b", 1, time.Hour, 5))
	user := limiter(t, c, spec("user", 1, time.Hour, 2))
	for i := range 30 {
		same, other := key(2*i), key(2*i+1)
		for n, want := range []bool{true, true, false} {
			d, err := ratelimit.TakeAll(t.Context(), ratelimit.Charge{Limiter: a, Key: same, Cost: 1},
				ratelimit.Charge{Limiter: b, Key: same, Cost: 1}, ratelimit.Charge{Limiter: user, Key: other, Cost: 1})
			if err != nil || d.Allowed != want {
				t.Fatalf("key %d, request %d: %+v, %v", i, n, d, err)
			}
		}
		for _, l := range []*ratelimit.Limiter{a, b} {
			if d, err := l.Peek(t.Context(), same); err != nil || d.Remaining != 3 {
				t.Fatalf("key %d: %s has %+v, %v; want 3 to remain", i, l.Name(), d, err)
			}
		}
	}
}

// A server behind TLS with a password and a database of its own.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	ca, cert, private := certificates(t, dir)
	s := redistest.StartTLS(t, "--tls-cert-file", cert, "--tls-key-file", private, "--tls-ca-cert-file", ca, "--requirepass", "p@ss/word:1")
	cfg := redis.Config{URL: "rediss://:p%40ss%2Fword%3A1@" + s.Addr + "/3", CAFile: ca, CertFile: cert, KeyFile: private, Budget: patient, DialTimeout: patient}
	l := limiter(t, dial(t, cfg), spec("tls", 1, time.Hour, 2))
	if d, err := l.Take(t.Context(), key(1)); err != nil || d.Remaining != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	for what, change := range map[string]func(*redis.Config){
		"authorities that are not its own": func(c *redis.Config) { c.CAFile = "" },
		"another name":                     func(c *redis.Config) { c.ServerName = "elsewhere.example" },
		"no certificate of ours":           func(c *redis.Config) { c.CertFile, c.KeyFile = "", "" },
		"no encryption": func(c *redis.Config) {
			c.URL, c.CAFile, c.CertFile, c.KeyFile = strings.Replace(c.URL, "rediss", "redis", 1), "", "", ""
		},
		"a wrong password": func(c *redis.Config) { c.URL = strings.Replace(c.URL, "word", "wort", 1) },
	} {
		other := cfg
		change(&other)
		other.Budget = 2 * time.Second
		if d, err := limiter(t, dial(t, other), spec("tls", 1, time.Hour, 2)).Take(t.Context(), key(1)); err == nil {
			t.Errorf("%s: %+v", what, d)
		}
	}
}

// certificates makes an authority, and a certificate of 127.0.0.1 by it.
func certificates(t *testing.T, dir string) (ca, cert, private string) {
	t.Helper()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	made := func(of, by *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			signer = own
		}
		of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, of, by, &own.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, own
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, caKey := made(authority, authority, nil)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	leafDER, leafKey := made(leaf, authority, caKey)
	raw, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", caDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "EC PRIVATE KEY", raw)
}
