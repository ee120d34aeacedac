package rules_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// ask evaluates the rule "asked" against a policy server.
func ask(t *testing.T, cfg rules.RemoteConfig, rule string) (bool, error) {
	t.Helper()
	s := newSet(map[string]string{"asked": rule, "inner": "!"})
	s.Remote = rules.NewRemote(cfg)
	return s.Allowed(t.Context(), "asked",
		map[string]any{"user_id": "u1", "system_scope": "all"}, map[string]any{"name": "a/b", "null": nil})
}

func TestRemoteAnswers(t *testing.T) {
	for answer, want := range map[string]bool{
		"True": true, `"True"`: true, `""True`: true, "true": false, "": false, "False": false,
		"True\n": false, " True": false, `'True'`: false, "TrueTrue": false,
		strings.Repeat(`"`, 100) + "True" + strings.Repeat(" ", 1<<20): false,
		strings.Repeat(`"`, 1<<20) + "True":                            false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, answer)
		}))
		got, err := ask(t, rules.RemoteConfig{}, server.URL)
		server.Close()
		if got != want || err != nil {
			t.Errorf("answer %.20q: got %v, %v; want %v", answer, got, err, want)
		}
	}
}

func TestRemoteQuestion(t *testing.T) {
	var path, kind string
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, kind = r.Method+" "+r.URL.Path, r.Header.Get("Content-Type")
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "True")
	}))
	defer server.Close()
	want := map[string]any{
		"rule":        "asked",
		"target":      map[string]any{"name": "a/b", "null": nil},
		"credentials": map[string]any{"user_id": "u1", "system_scope": "all", "system": "all"},
	}

	if ok, err := ask(t, rules.RemoteConfig{}, server.URL+"/q/%(name)s"); !ok || err != nil {
		t.Fatalf("form: got %v, %v", ok, err)
	}
	if path != "POST /q/a/b" || kind != "application/x-www-form-urlencoded" {
		t.Errorf("form: got %s of %s", path, kind)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for name := range form {
		var v any
		if err := json.Unmarshal([]byte(form.Get(name)), &v); err != nil {
			t.Errorf("form field %s: %v", name, err)
		}
		got[name] = v
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("form (-want +got):\n%s", d)
	}

	if ok, err := ask(t, rules.RemoteConfig{JSON: true}, server.URL); !ok || err != nil {
		t.Fatalf("JSON: got %v, %v", ok, err)
	}
	got = nil
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || kind != "application/json" {
		t.Errorf("JSON of type %s (-want +got):\n%s", kind, d)
	}
}

// A server that does not give a proper answer ends the decision, so that a
// rule's "not" does not turn its silence into access.
func TestRemoteFailures(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "True")
	}))
	defer cut.Close()
	for name, address := range map[string]string{
		"slow": slow.URL, "closed": closed.URL, "cut short": cut.URL, "missing key": slow.URL + "/%(gone)s",
		"no address": "http:x", "no host": "http://", "bad format": slow.URL + "/%", "bad escape": slow.URL + "/%%zz",
	} {
		for _, rule := range []string{address, "not " + address, "rule:inner or " + address + " or @"} {
			start := time.Now()
			ok, err := ask(t, rules.RemoteConfig{Timeout: 100 * time.Millisecond}, rule)
			if ok || err == nil {
				t.Errorf("%s, %s: got %v, %v; want a refusal with a reason", name, rule, ok, err)
			}
			if err != nil && strings.Contains(err.Error(), "127.0.0.1") && strings.Contains(err.Error(), "http") {
				t.Errorf("%s: the address is in the error: %v", name, err)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("%s took %s", name, d)
			}
		}
	}
}

func TestRemoteIsOff(t *testing.T) {
	s := newSet(map[string]string{"asked": "not http://example.org/"})
	if ok, err := s.Allowed(t.Context(), "asked", creds, target); ok || err == nil {
		t.Errorf("without a Remote: got %v, %v; want a refusal with a reason", ok, err)
	}
}

func TestRemoteStopsWithTheCall(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	s := newSet(map[string]string{"asked": server.URL})
	s.Remote = rules.NewRemote(rules.RemoteConfig{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if ok, err := s.Allowed(ctx, "asked", nil, nil); ok || err == nil {
		t.Errorf("got %v, %v; want a refusal with a reason", ok, err)
	}
}

func TestRemoteRedirectIsNoAnswer(t *testing.T) {
	yes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "True")
	}))
	defer yes.Close()
	server := httptest.NewServer(http.RedirectHandler(yes.URL, http.StatusFound))
	defer server.Close()
	if ok, err := ask(t, rules.RemoteConfig{}, server.URL); ok || err != nil {
		t.Errorf("got %v, %v; want a refusal", ok, err)
	}
}

// tlsServer answers True at /open to everybody, and elsewhere to who shows a
// certificate. It gives its own certificate's file.
func tlsServer(t *testing.T) (address, ca string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 || r.URL.Path == "/open" {
			_, _ = io.WriteString(w, "True")
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, write(t, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func write(t *testing.T, blocks ...*pem.Block) string {
	t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(b)...)
	}
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRemoteTLS(t *testing.T) {
	address, ca := tlsServer(t)
	cert, key := selfSigned(t)
	certFile, keyFile, both := write(t, cert), write(t, key), write(t, cert, key)
	for name, c := range map[string]struct {
		cfg       rules.RemoteConfig
		path      string
		ok, fails bool
	}{
		"not verified":          {rules.RemoteConfig{}, "/open", true, false},
		"unknown authority":     {rules.RemoteConfig{Verify: true}, "/open", false, true},
		"known authority":       {rules.RemoteConfig{Verify: true, CAFile: ca}, "/open", true, false},
		"authority missing":     {rules.RemoteConfig{Verify: true, CAFile: ca + ".gone"}, "/open", false, true},
		"authority is empty":    {rules.RemoteConfig{Verify: true, CAFile: write(t)}, "/open", false, true},
		"no client certificate": {rules.RemoteConfig{}, "/", false, false},
		"client certificate":    {rules.RemoteConfig{CertFile: certFile, KeyFile: keyFile}, "/", true, false},
		"both in one file":      {rules.RemoteConfig{CertFile: both}, "/", true, false},
		"key missing":           {rules.RemoteConfig{CertFile: certFile, KeyFile: keyFile + ".gone"}, "/open", false, true},
	} {
		ok, err := ask(t, c.cfg, address+c.path)
		if ok != c.ok || (err != nil) != c.fails {
			t.Errorf("%s: got %v, %v", name, ok, err)
		}
	}
}

func selfSigned(t *testing.T) (cert, key *pem.Block) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return &pem.Block{Type: "CERTIFICATE", Bytes: der}, &pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}
}
