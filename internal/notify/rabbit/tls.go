package rabbit

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// TLS is [oslo_messaging_rabbit] ssl and its kin.
type TLS struct {
	On                        bool
	Version                   string
	CAFile, CertFile, KeyFile string
}

// config reads the files. Without ssl_ca_file the broker is believed to be who
// it is, as in Python; Verified tells.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch strings.ToLower(t.Version) {
	case "", "sslv23":
	case "tlsv1_2":
		c.MaxVersion = tls.VersionTLS12
	default:
		return nil, fmt.Errorf("ssl_version %s: only TLSv1_2 and newer are spoken", t.Version)
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("ssl_cert_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.CAFile == "" {
		c.InsecureSkipVerify = true
		return c, nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ssl_ca_file: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("ssl_ca_file holds no certificate")
	}
	return c, nil
}
