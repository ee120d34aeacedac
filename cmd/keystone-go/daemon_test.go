package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServiceManager: what systemd hears from start to end.
func TestServiceManager(t *testing.T) {
	p := ready(t)
	path := filepath.Join(p.dir, "notify")
	m, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	hear := func(want ...string) {
		t.Helper()
		b := make([]byte, 4096)
		for {
			if err := m.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			n, err := m.Read(b)
			if err != nil {
				t.Fatalf("waiting for %q: %v", want, err)
			}
			got := string(b[:n])
			if got == "WATCHDOG=1" && want[0] != got {
				continue
			}
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("heard %q, want %q", got, w)
				}
			}
			return
		}
	}
	launched := time.Now()
	s := launch(t, []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=400000", "WATCHDOG_PID=$$"}, nil, "--config-file", p.conf, "serve")
	hear("READY=1", "STATUS=Serving")
	serving := time.Now() // or later than that: signs may be there already
	for range 5 {
		hear("WATCHDOG=1")
	}
	if least, most := time.Since(launched), time.Since(serving); least < 800*time.Millisecond || most > 3*time.Second {
		t.Errorf("five signs of life took %v, with the start %v", most, least)
	}
	s.signal(t, syscall.SIGHUP)
	hear("RELOADING=1", "MONOTONIC_USEC=")
	hear("READY=1", "STATUS=Serving")
	p.edit(t, "[keystone_go]", "[keystone_go]\nhash_wait = never")
	s.signal(t, syscall.SIGHUP)
	hear("RELOADING=1")
	hear("READY=1", "the last reload failed")
	s.signal(t, syscall.SIGTERM)
	hear("STOPPING=1")
	s.wait(t)
}

// TestSocketActivation: the service manager's sockets take the place of those
// in the file, and connections made before the server serves are answered.
func TestSocketActivation(t *testing.T) {
	p := ready(t, "[keystone_go]", "listen = 127.0.0.1:1", "admin_listen = 127.0.0.1:1")
	p.edit(t, "listen = 127.0.0.1:0\nadmin_listen = 127.0.0.1:0\n", "")
	var files []*os.File
	var addresses []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		files, addresses = append(files, f), append(addresses, l.Addr().String())
		_ = l.Close()
		defer f.Close()
	}
	early := make(chan error, 1)
	go func() {
		r, err := http.Get("http://" + addresses[0] + "/v3")
		if err == nil {
			_ = r.Body.Close()
		}
		early <- err
	}()
	s := launch(t, []string{"LISTEN_PID=$$", "LISTEN_FDS=3", "LISTEN_FDNAMES=public:metrics:other.socket"}, files, "--config-file", p.conf, "serve")
	if err := <-early; err != nil {
		t.Errorf("a connection made before the start: %v", err)
	}
	for i, path := range []string{"/v3", "/readyz", "/v3"} {
		if status, body := get(t, "http://"+addresses[i]+path); status != http.StatusOK {
			t.Errorf("socket %d: %d %s", i, status, body)
		}
	}
	s.end(t)
}

// TestListeners: several addresses, unix sockets among them, whose peers have
// an address only when they are declared to be a proxy.
func TestListeners(t *testing.T) {
	limits := []string{"[rate_limit_global_ip]", "enabled = true", "burst_size = 2", "replenish_rate_per_second = 1"}
	p := running(t, limits...)
	socket, adminSocket := filepath.Join(p.dir, "api.sock"), filepath.Join(p.dir, "admin.sock")
	p.edit(t, "admin_listen = 127.0.0.1:0", "admin_listen = unix:"+adminSocket+"\nsocket_mode = 0600",
		"\nlisten = 127.0.0.1:0", "\nlisten = unix:"+socket+", 127.0.0.1:0, [::1]:0")
	s := launchUnix(t, p, socket)
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Errorf("the socket: %v, %v", info, err)
	}
	ask := func(forwarded string) int {
		t.Helper()
		status, _, _, err := s.call("GET", "/v3/regions", "", map[string]string{"X-Forwarded-For": forwarded})
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	s.says(t, "socket_peer is not set", 1)
	if got := ask("192.0.2.1"); got != http.StatusServiceUnavailable {
		t.Errorf("a peer that is not declared: %d", got)
	}
	if status, _, _, err := s.call("GET", "/healthcheck", "", nil); status != http.StatusOK {
		t.Errorf("what no limit applies to: %d, %v", status, err)
	}
	p.edit(t, "socket_mode", "socket_peer = local\nsocket_mode")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 1)
	got := []int{ask("192.0.2.1"), ask("192.0.2.1"), ask("192.0.2.1")}
	for range 5 { // one comes back in a second
		if got[2] != http.StatusTooManyRequests {
			got[2] = ask("192.0.2.1")
		}
	}
	if got = append(got, ask("192.0.2.2")); fmt.Sprint(got) != "[401 401 429 401]" {
		t.Errorf("declared, two clients behind a proxy: %v", got)
	}
	s.end(t)
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket stays")
	}
}

// launchUnix starts a server whose first address is a unix socket.
func launchUnix(t *testing.T, p place, socket string) *process {
	t.Helper()
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	s.reach(socket, "")
	return s
}

// pemFiles makes a certificate for 127.0.0.1, signed by itself.
func pemFiles(t *testing.T, p place, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	p.put(t, name+".pem", string(cert))
	p.put(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// TestTLS: certificates from the file, changed on the disk and by SIGHUP, while
// a client stays connected.
func TestTLS(t *testing.T) {
	p := ready(t)
	one := pemFiles(t, p, "one")
	p.edit(t, "[keystone_go]", fmt.Sprintf("[keystone_go]\ntls_cert_file = %[1]s/one.pem\ntls_key_file = %[1]s/one.key", p.dir))
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	address := strings.TrimPrefix(s.url, "http://")
	client := func(pool *x509.CertPool) *http.Client {
		return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	}
	ask := func(c *http.Client) error {
		r, err := c.Get("https://" + address + "/v3")
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK || r.ProtoMajor != 2 {
			return fmt.Errorf("%s %s", r.Proto, r.Status)
		}
		return nil
	}
	stays := client(one)
	if err := ask(stays); err != nil {
		t.Fatal(err)
	}
	if end := s.metric(t, `keystone_tls_certificate_expiry_timestamp_seconds{listener="public"}`); !strings.HasPrefix(end, "1.") {
		t.Errorf("the certificate ends %s", end)
	}
	again := pemFiles(t, p, "one") // under the same names
	time.Sleep(1100 * time.Millisecond)
	if err := ask(client(again)); err != nil {
		t.Errorf("changed on the disk: %v", err)
	}
	if err := ask(client(one)); err == nil {
		t.Error("the certificate before is still shown")
	}
	other := pemFiles(t, p, "other")
	p.edit(t, "one.pem", "other.pem", "one.key", "other.key")
	s.signal(t, syscall.SIGHUP)
	s.says(t, takenOver, 1)
	if err := ask(client(other)); err != nil {
		t.Errorf("by SIGHUP: %v", err)
	}
	if err := ask(stays); err != nil {
		t.Errorf("who stayed connected: %v", err)
	}
	p.edit(t, fmt.Sprintf("tls_cert_file = %[1]s/other.pem\ntls_key_file = %[1]s/other.key\n", p.dir), "")
	s.signal(t, syscall.SIGHUP)
	s.says(t, `take effect at a restart options="[keystone_go] tls_cert_file"`, 1)
	if err := ask(client(other)); err != nil {
		t.Errorf("TLS until the restart: %v", err)
	}
}

// TestSIGTERMDrains: a request that is under way when SIGTERM comes is answered, and
// new ones are refused; readiness says so at once.
func TestSIGTERMDrains(t *testing.T) {
	p := ready(t, "[keystone_go]", "drain_delay = 3")
	s := launch(t, nil, nil, "--config-file", p.conf, "serve")
	finish := slowLogin(t, s.url, s.admin)
	s.signal(t, syscall.SIGTERM)
	s.says(t, "Stopping", 1)
	var status int
	for range 50 {
		if status, _ = get(t, s.admin+"/readyz"); status == http.StatusServiceUnavailable {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("ready while draining: %d", status)
	}
	if status, _, _, err := s.call("GET", "/v3", "", nil); status != http.StatusOK {
		t.Errorf("within the delay: %d, %v", status, err)
	}
	var refused error
	for end := time.Now().Add(6 * time.Second); refused == nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, _, _, refused = s.call("GET", "/v3", "", nil)
	}
	if refused == nil {
		t.Error("answered after the delay")
	}
	if status, err := finish(); status != http.StatusUnauthorized {
		t.Errorf("the request under way: %d, %v", status, err)
	}
	s.wait(t)
}
