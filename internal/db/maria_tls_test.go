package db

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
)

// TestMariaDBTLS asks a server with a certificate for "localhost".
func TestMariaDBTLS(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	certificate(t, dir)
	certificate(t, other)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	// The server may be another user.
	for path, mode := range map[string]os.FileMode{cert: 0o644, key: 0o644, dir: 0o755, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	s, err := mariaserver.Start("--ssl-ca="+cert, "--ssl-cert="+cert, "--ssl-key="+key)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for address, want := range map[string]string{
		s.URL:                        "TLS", // what nobody asks for is used where it is offered
		s.URL + "?ssl_disabled=true": "plain",
		s.URL + "?ssl_mode=REQUIRED": "TLS",
		byName + "?ssl_ca=" + cert:   "TLS",
		s.URL + "?ssl_ca=" + cert:    "refused",
		s.URL + "?ssl_ca=" + cert + "&ssl_check_hostname=false":                          "TLS",
		s.URL + "?ssl_ca=" + cert + "&ssl_verify_cert=true":                              "TLS",
		byName + "?ssl_ca=" + filepath.Join(other, "cert.pem"):                           "refused",
		s.URL + "?ssl_ca=" + filepath.Join(other, "cert.pem") + "&ssl_verify_cert=true":  "refused",
		s.URL + "?ssl_ca=" + filepath.Join(other, "cert.pem") + "&ssl_verify_cert=false": "TLS",
		byName + "?ssl_ca=" + cert + "&ssl_verify_cert=true&ssl_verify_identity=true":    "TLS",
		s.URL + "?ssl_ca=" + cert + "&ssl_verify_cert=true&ssl_verify_identity=true":     "refused",
		byName + "?ssl_verify_cert=true":                                                 "refused", // not known to the system
		byName + "?ssl_ca=" + cert + "&ssl_cert=" + cert + "&ssl_key=" + key:             "TLS",
	} {
		got := "refused"
		d, err := Open(t.Context(), Config{URL: address, ConnectTimeout: 20 * time.Second, MaxRetries: 0})
		if err == nil {
			version, err := One(t.Context(), d, Query[string]{Text: `show status like 'Ssl_version'`, Scan: func(r Row) (v string, err error) {
				var name string
				err = r.Scan(&name, &v)
				return v, err
			}})
			if err != nil {
				t.Errorf("%s: %v", address, err)
			}
			if got = "plain"; strings.HasPrefix(version, "TLS") {
				got = "TLS"
			}
			d.Close()
		}
		if got != want {
			t.Errorf("%s: %s, want %s: %v", address, got, want, err)
		}
	}
	socket := strings.Replace(s.URL, "127.0.0.1", "", 1)
	socket = socket[:strings.LastIndex(socket, ":")] + "/mysql?unix_socket=" + s.Socket
	d, err := Open(t.Context(), Config{URL: socket})
	if err != nil {
		t.Fatalf("%s: %v", socket, err)
	}
	d.Close()
}
