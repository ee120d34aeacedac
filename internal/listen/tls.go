package listen

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/internal/follow"
)

// ClientAuth says what is asked of clients' certificates.
type ClientAuth string

// The choices of [keystone_go] tls_client_auth.
const (
	AuthNone    ClientAuth = "none"
	AuthRequest ClientAuth = "request" // one that is sent must be good
	AuthRequire ClientAuth = "require"
)

// TLSConfig names the files and rules of TLS.
type TLSConfig struct {
	CertFile, KeyFile string
	MinVersion        uint16 // tls.VersionTLS12 or later
	ClientCAFile      string
	ClientAuth        ClientAuth
	Log               *slog.Logger
	// Loaded is told when the certificate ends, each time that one was read.
	// It may be nil.
	Loaded func(end time.Time)
}

// Certificates are the files of a TLSConfig. They are looked at once a second
// at most, when a connection comes; what cannot be read leaves the last good ones in use.
type Certificates struct{ files *follow.Value[*tls.Config] }

// OpenCertificates reads the files.
func OpenCertificates(c TLSConfig) (*Certificates, error) {
	loaded := func(t *tls.Config) {
		if c.Loaded != nil {
			c.Loaded(t.Certificates[0].Leaf.NotAfter)
		}
	}
	files, err := follow.Open(follow.Source[*tls.Config]{
		Print: func() (string, error) {
			var out []byte
			for _, path := range []string{c.CertFile, c.KeyFile, c.ClientCAFile} {
				if path != "" {
					out = follow.Stamp(out, path)
				}
			}
			return string(out), nil
		},
		Load: func(*tls.Config) (*tls.Config, error) { return c.load() },
		Failed: func(err error) {
			c.Log.Warn("TLS files not read, the last good ones stay in use", "error", err)
		},
		Changed: func(t *tls.Config) {
			c.Log.Info("TLS files were read again", "cert", c.CertFile, "until", t.Certificates[0].Leaf.NotAfter.UTC().Format(time.RFC3339))
			loaded(t)
		},
	})
	if err != nil {
		return nil, err
	}
	loaded(files.Get())
	return &Certificates{files}, nil
}

// load reads the files. Each set gets a tls.Config of its own: the keys of its
// session tickets go with it, so that no session outlives the rules that it
// began under.
func (c TLSConfig) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("tls_cert_file, tls_key_file: %w", err)
	}
	out := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: c.MinVersion, NextProtos: []string{"h2", "http/1.1"}}
	switch c.ClientAuth {
	case AuthNone, "":
		return out, nil
	case AuthRequest:
		out.ClientAuth = tls.VerifyClientCertIfGiven
	case AuthRequire:
		out.ClientAuth = tls.RequireAndVerifyClientCert
	default:
		return nil, fmt.Errorf("tls_client_auth = %s: there are none, request and require", c.ClientAuth)
	}
	if c.ClientCAFile == "" {
		return nil, fmt.Errorf("tls_client_auth = %s needs tls_client_ca_file", c.ClientAuth)
	}
	text, err := os.ReadFile(c.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("tls_client_ca_file: %w", err)
	}
	out.ClientCAs = x509.NewCertPool()
	if !out.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls_client_ca_file: %s holds no certificate", c.ClientCAFile)
	}
	return out, nil
}

// TLS wraps listeners and lets the certificates be others later.
type TLS struct{ current atomic.Pointer[Certificates] }

// Use makes certificates the ones of handshakes from now on.
func (t *TLS) Use(c *Certificates) { t.current.Store(c) }

// Wrap makes a listener speak TLS; Use must have been called.
func (t *TLS) Wrap(l net.Listener) net.Listener { return &tlsListener{l, t} }

// tlsListener gives each connection the present configuration whole, where
// GetConfigForClient would leave it the session tickets of another.
type tlsListener struct {
	net.Listener
	tls *TLS
}

// Accept waits for a connection; the handshake is its user's.
func (l *tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tls.Server(c, l.tls.current.Load().files.Get()), nil
}
