package listen_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/listen"
)

// authority makes certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

var serial int64

func certificate(t *testing.T, name string, parent *authority) *authority {
	t.Helper()
	serial++
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"keystone.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Duration(serial) * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if parent == nil {
		form.IsCA, form.BasicConstraintsValid, form.KeyUsage = true, true, x509.KeyUsageCertSign
		parent = &authority{cert: form, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent.cert, &key.PublicKey, parent.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) keyPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (a *authority) pair(t *testing.T) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.pem, a.keyPEM(t))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// site is a server over TLS with its files.
type site struct {
	dir     string
	ca      *authority
	address string
	tls     listen.TLS
	cfg     listen.TLSConfig

	mu  sync.Mutex
	log bytes.Buffer
	end time.Time
}

func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *site) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *site) put(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

func newSite(t *testing.T, edit func(*site)) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), ca: certificate(t, "root", nil)}
	leaf := certificate(t, "first", s.ca)
	s.cfg = listen.TLSConfig{
		CertFile: s.put(t, "cert.pem", leaf.pem), KeyFile: s.put(t, "key.pem", leaf.keyPEM(t)), MinVersion: tls.VersionTLS12,
		Log:    slog.New(slog.NewTextHandler(s, nil)),
		Loaded: func(end time.Time) { s.mu.Lock(); s.end = end; s.mu.Unlock() },
	}
	if edit != nil {
		edit(s)
	}
	certs, err := listen.OpenCertificates(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.tls.Use(certs)
	l := open(t, "127.0.0.1:0")
	s.address = l.Addr().String()
	serve(t, s.tls.Wrap(l), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "-"
		if len(r.TLS.VerifiedChains) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = fmt.Fprintf(w, "%s %s", r.Proto, name)
	}), listen.Times{})
	return s
}

// ask makes one request on a connection of its own and gives the answer and
// the name in the server's certificate.
func (s *site) ask(t *testing.T, edit func(*tls.Config)) (answer, server string, err error) {
	t.Helper()
	cfg := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "keystone.test"}
	cfg.RootCAs.AddCert(s.ca.cert)
	if edit != nil {
		edit(cfg)
	}
	transport := &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: cfg.NextProtos == nil}
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get("https://" + s.address + "/")
	if err != nil {
		return "", "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return string(text), r.TLS.PeerCertificates[0].Subject.CommonName, err
}

func TestTLSSpeaksHTTP2(t *testing.T) {
	s := newSite(t, nil)
	for proto, edit := range map[string]func(*tls.Config){
		"HTTP/2.0 -": nil,
		"HTTP/1.1 -": func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} },
	} {
		if got, _, err := s.ask(t, edit); err != nil || got != proto {
			t.Errorf("got %q, %v, want %q", got, err, proto)
		}
	}
	if !s.end.Equal(mustParse(t, s).NotAfter) {
		t.Errorf("told that the certificate ends %v", s.end)
	}
	// Plain HTTP on the port is told so, and no more.
	r, err := http.Get("http://" + s.address + "/")
	if err != nil || r.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP: %v, %v", r, err)
	}
}

func mustParse(t *testing.T, s *site) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(s.cfg.CertFile, s.cfg.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestTLSMinVersion(t *testing.T) {
	old := newSite(t, nil)
	strict := newSite(t, func(s *site) { s.cfg.MinVersion = tls.VersionTLS13 })
	for _, c := range []struct {
		site *site
		max  uint16
		ok   bool
	}{
		{old, tls.VersionTLS11, false},
		{old, tls.VersionTLS12, true},
		{old, tls.VersionTLS13, true},
		{strict, tls.VersionTLS12, false},
		{strict, tls.VersionTLS13, true},
	} {
		_, _, err := c.site.ask(t, func(cfg *tls.Config) { cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, c.max })
		if (err == nil) != c.ok {
			t.Errorf("at least %x, client at most %x: %v", c.site.cfg.MinVersion, c.max, err)
		}
	}
}

func TestTLSClientCertificates(t *testing.T) {
	clients, strangers := certificate(t, "clients", nil), certificate(t, "strangers", nil)
	ana, eve := certificate(t, "ana", clients), certificate(t, "eve", strangers)
	with := func(a *authority) func(*tls.Config) {
		if a == nil {
			return nil
		}
		pair := a.pair(t)
		// Whatever the server says that it wants.
		return func(c *tls.Config) {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
	}
	for _, c := range []struct {
		auth   listen.ClientAuth
		client *authority
		want   string // "" is a refused handshake
	}{
		{listen.AuthNone, nil, "-"},
		{listen.AuthNone, ana, "-"},
		{listen.AuthRequest, nil, "-"},
		{listen.AuthRequest, ana, "ana"},
		{listen.AuthRequest, eve, ""},
		{listen.AuthRequire, nil, ""},
		{listen.AuthRequire, ana, "ana"},
		{listen.AuthRequire, eve, ""},
	} {
		s := newSite(t, func(s *site) {
			s.cfg.ClientAuth = c.auth
			if c.auth != listen.AuthNone {
				s.cfg.ClientCAFile = s.put(t, "clients.pem", clients.pem)
			}
		})
		got, _, err := s.ask(t, with(c.client))
		if c.want == "" && err == nil || c.want != "" && got != "HTTP/2.0 "+c.want {
			t.Errorf("%s, %v: got %q, %v, want %q", c.auth, c.client, got, err, c.want)
		}
	}
}

// TestTLSReload: new files are seen by connections a second later, half of
// them leaves the old ones, and no session outlives a change of the rules.
func TestTLSReload(t *testing.T) {
	clients, others := certificate(t, "clients", nil), certificate(t, "others", nil)
	ana, ben := certificate(t, "ana", clients).pair(t), certificate(t, "ben", others).pair(t)
	s := newSite(t, func(s *site) {
		s.cfg.ClientAuth, s.cfg.ClientCAFile = listen.AuthRequire, s.put(t, "clients.pem", clients.pem)
	})
	sessions := tls.NewLRUClientSessionCache(8)
	as := func(pair tls.Certificate) func(*tls.Config) {
		return func(c *tls.Config) { c.Certificates, c.ClientSessionCache = []tls.Certificate{pair}, sessions }
	}
	expect := func(what, want string, pair tls.Certificate) {
		t.Helper()
		if _, server, err := s.ask(t, as(pair)); err != nil || server != want {
			t.Errorf("%s: got %q, %v, want %q", what, server, err, want)
		}
	}
	expect("at first", "first", ana)
	second := certificate(t, "second", s.ca)
	s.put(t, "cert.pem", second.pem)
	time.Sleep(1100 * time.Millisecond)
	expect("a certificate without its key", "first", ana)
	if log := s.logged(); !strings.Contains(log, "the last good ones stay in use") {
		t.Errorf("log: %s", log)
	}
	s.put(t, "key.pem", second.keyPEM(t))
	time.Sleep(1100 * time.Millisecond)
	expect("both", "second", ana)
	if !s.end.Equal(second.cert.NotAfter) {
		t.Errorf("told that the certificate ends %v, not %v", s.end, second.cert.NotAfter)
	}
	s.put(t, "clients.pem", others.pem)
	time.Sleep(1100 * time.Millisecond)
	if got, _, err := s.ask(t, as(ana)); err == nil {
		t.Errorf("a session under an authority that is gone: %q", got)
	}
	expect("the new authority", "second", ben)
	if strings.Contains(s.logged(), "PRIVATE") {
		t.Error("the log shows a key")
	}
	// Another configuration takes over without a new listener.
	third := certificate(t, "third", s.ca)
	cfg := s.cfg
	cfg.CertFile, cfg.KeyFile, cfg.ClientAuth, cfg.ClientCAFile = s.put(t, "other.pem", third.pem), s.put(t, "other.key", third.keyPEM(t)), listen.AuthNone, ""
	certs, err := listen.OpenCertificates(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.tls.Use(certs)
	expect("other files", "third", ana)
}

func TestTLSFilesThatAreWrong(t *testing.T) {
	good := newSite(t, nil)
	other := certificate(t, "other", good.ca)
	for what, c := range map[string]struct {
		edit func(*listen.TLSConfig)
		says string
	}{
		"no certificate":     {func(c *listen.TLSConfig) { c.CertFile = good.dir + "/none" }, "tls_cert_file"},
		"another's key":      {func(c *listen.TLSConfig) { c.KeyFile = good.put(t, "o.key", other.keyPEM(t)) }, "private key does not match"},
		"no authority":       {func(c *listen.TLSConfig) { c.ClientAuth = listen.AuthRequire }, "needs tls_client_ca_file"},
		"an empty authority": {func(c *listen.TLSConfig) { c.ClientAuth, c.ClientCAFile = listen.AuthRequire, good.put(t, "e", nil) }, "holds no certificate"},
		"an unknown word":    {func(c *listen.TLSConfig) { c.ClientAuth = "maybe" }, "maybe"},
	} {
		cfg := good.cfg
		c.edit(&cfg)
		if _, err := listen.OpenCertificates(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", what, err, c.says)
		}
	}
}

// TestTLSHandshakeIsBounded: who connects and says nothing is cut off.
func TestTLSHandshakeIsBounded(t *testing.T) {
	s := newSite(t, nil)
	l := open(t, "127.0.0.1:0")
	serve(t, s.tls.Wrap(l), http.NotFoundHandler(), listen.Times{Header: 200 * time.Millisecond})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cutOff(t, conn, 5*time.Second)
}
