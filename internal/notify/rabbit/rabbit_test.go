package rabbit_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/notify/rabbit"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/rabbittest"
)

func options(addr string) rabbit.Options {
	return rabbit.Options{
		Name: "messagingv2", URL: "rabbit://guest:guest@" + addr + "/", Topics: []string{"notifications"}, Exchange: "keystone", Retry: -1,
		Login: "AMQPLAIN", Heartbeat: 60 * time.Second, Interval: 50 * time.Millisecond, Step: 50 * time.Millisecond, Max: time.Second,
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// driver fails the test where the options are wrong.
func driver(t *testing.T, o rabbit.Options) *rabbit.Driver {
	t.Helper()
	d, err := rabbit.New(o, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func message(n int) notify.Message {
	return notify.Message{Type: "identity.user.created", Body: pyjson.Object{{Key: "event_type", Value: "identity.user.created"}, {Key: "n", Value: n}}}
}

// taken reads a message off a queue, or fails.
func taken(t *testing.T, addr, queue string) amqp.Delivery {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	d, found, err := channel.Get(queue, true)
	if err != nil || !found {
		t.Fatalf("%s: found %v, error %v", queue, found, err)
	}
	return d
}

// TestSent holds what a listener gets against what oslo.messaging sends.
func TestSent(t *testing.T) {
	s := rabbittest.Start(t, nil)
	o := options(s.Addr)
	o.Topics = []string{"notifications", "audit"}
	if err := driver(t, o).Send(t.Context(), message(1)); err != nil {
		t.Fatal(err)
	}
	for _, topic := range o.Topics {
		d := taken(t, s.Addr, topic+".info")
		if d.Exchange != "keystone" || d.RoutingKey != topic+".info" || d.ContentType != "application/json" || d.ContentEncoding != "utf-8" || d.DeliveryMode != amqp.Persistent {
			t.Errorf("properties: %+v", d)
		}
		var envelope struct {
			Version string `json:"oslo.version"`
			Message string `json:"oslo.message"`
		}
		var inner map[string]any
		if err := json.Unmarshal(d.Body, &envelope); err != nil || envelope.Version != "2.0" || json.Unmarshal([]byte(envelope.Message), &inner) != nil {
			t.Fatalf("body %s: %v", d.Body, err)
		}
		if id, _ := inner["_unique_id"].(string); len(id) != 32 || inner["n"] != 1.0 {
			t.Errorf("message %v", inner)
		}
	}
	t.Run("without an envelope", func(t *testing.T) {
		o := options(s.Addr)
		o.Name, o.Login = "messaging", "PLAIN"
		if err := driver(t, o).Send(t.Context(), message(2)); err != nil {
			t.Fatal(err)
		}
		var plain map[string]any
		if d := taken(t, s.Addr, "notifications.info"); json.Unmarshal(d.Body, &plain) != nil || plain["n"] != 2.0 || plain["_unique_id"] == nil {
			t.Errorf("body %s", d.Body)
		}
	})
	t.Run("past a host that is away", func(t *testing.T) {
		o := options(s.Addr)
		o.URL = fmt.Sprintf("rabbit://guest:guest@%s,guest:guest@%s/", away(t), s.Addr)
		if err := driver(t, o).Send(t.Context(), message(3)); err != nil {
			t.Fatal(err)
		}
		taken(t, s.Addr, "notifications.info")
	})
	t.Run("refused", func(t *testing.T) {
		o := options(s.Addr)
		o.URL, o.Retry = strings.Replace(o.URL, "guest:guest", "guest:some-other-word", 1), 1
		err := driver(t, o).Send(t.Context(), message(4))
		if err == nil || strings.Contains(err.Error(), "some-other-word") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("through a restart", func(t *testing.T) {
		d := driver(t, options(s.Addr))
		if err := d.Send(t.Context(), message(5)); err != nil {
			t.Fatal(err)
		}
		taken(t, s.Addr, "notifications.info")
		s.Kill()
		done := make(chan error, 1)
		go func() { done <- d.Send(t.Context(), message(6)) }()
		select {
		case err := <-done:
			t.Fatalf("sent without a broker: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		s.Restart()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		taken(t, s.Addr, "notifications.info")
	})
}

// TestOverTLS: a broker whose certificate another authority signed, or that
// names another host, hears nothing; without an authority, whoever answers does.
func TestOverTLS(t *testing.T) {
	dir := t.TempDir()
	ca, files := certificates(t, dir, "127.0.0.1")
	otherCA, _ := certificates(t, t.TempDir(), "127.0.0.1")
	s := rabbittest.Start(t, &files)
	for _, tt := range []struct {
		name string
		set  func(*rabbit.Options)
		sent bool
	}{
		{"verified", func(o *rabbit.Options) { o.TLS.CAFile = ca }, true},
		{"by the URL", func(o *rabbit.Options) { o.TLS = rabbit.TLS{}; o.URL += "?ssl=1&ssl_ca_file=" + ca }, true},
		{"unverified", func(*rabbit.Options) {}, true},
		{"version", func(o *rabbit.Options) { o.TLS.CAFile, o.TLS.Version = ca, "TLSv1_2" }, true},
		{"of another authority", func(o *rabbit.Options) { o.TLS.CAFile = otherCA }, false},
		{"of another name", func(o *rabbit.Options) {
			o.TLS.CAFile = ca
			o.URL = strings.Replace(o.URL, "127.0.0.1", "localhost", 1)
		}, false},
		{"plain", func(o *rabbit.Options) { o.TLS.On = false }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(s.Addr)
			o.TLS.On, o.Retry = true, 0
			tt.set(&o)
			d := driver(t, o)
			if err := d.Send(t.Context(), message(1)); (err == nil) != tt.sent {
				t.Errorf("sent %v: %v", err == nil, err)
			}
			if d.Unverified() != (tt.name == "unverified") {
				t.Errorf("unverified: %v", d.Unverified())
			}
		})
	}
}

// certificates makes an authority, and what it signs for a server at an
// address.
func certificates(t *testing.T, dir, addr string) (string, rabbittest.TLS) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of a test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a broker of a test"}, NotBefore: template.NotBefore, NotAfter: template.NotAfter,
		IPAddresses: []net.IP{net.ParseIP(addr)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	root, err := x509.CreateCertificate(rand.Reader, template, template, &authority.PublicKey, authority)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, template, &key.PublicKey, authority)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := rabbittest.TLS{CA: write("ca.pem", "CERTIFICATE", root), Cert: write("cert.pem", "CERTIFICATE", signed), Key: write("key.pem", "PRIVATE KEY", secret)}
	return files.CA, files
}

// away is an address where nobody listens.
func away(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestNoBroker(t *testing.T) {
	o := options(away(t))
	o.Retry = 2
	start := time.Now()
	if err := driver(t, o).Send(t.Context(), message(1)); err == nil || time.Since(start) < 150*time.Millisecond {
		t.Errorf("error %v after %s, want one after two waits", err, time.Since(start))
	}
	o.Retry = -1
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := driver(t, o).Send(ctx, message(1)); err == nil {
		t.Error("sent without a broker")
	}
}

// TestURLs are those that oslo.messaging reads, and what it does not.
func TestURLs(t *testing.T) {
	for url, fine := range map[string]bool{
		"rabbit://": true, "kombu://a:b@h:1/v": true, "rabbit://a:b@h1:1,a:b@[::1]:2//v?ssl=1": true, "rabbit://h": true, "rabbit://:@h": true,
		"rabbit://h?heartbeat_rate=2": true, "rabbit://a:p%40ss@h/": true,
		"": false, "kafka://h": false, "amqp://h": false, "rabbit://a:some-word@h:x/": false, "rabbit://h:70000": false, "rabbit://h?ssl=maybe": false,
	} {
		o := options("127.0.0.1:1")
		o.URL = url
		_, err := rabbit.New(o, quiet())
		if (err == nil) != fine || err != nil && strings.Contains(err.Error(), "some-word") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for name, set := range map[string]func(*rabbit.Options){
		"login":       func(o *rabbit.Options) { o.Login = "RABBIT-CR-DEMO" },
		"queues":      func(o *rabbit.Options) { o.Quorum, o.HA = true, true },
		"version":     func(o *rabbit.Options) { o.TLS = rabbit.TLS{On: true, Version: "sslv3"} },
		"authority":   func(o *rabbit.Options) { o.TLS = rabbit.TLS{On: true, CAFile: "/nowhere"} },
		"certificate": func(o *rabbit.Options) { o.TLS = rabbit.TLS{On: true, CertFile: "/nowhere"} },
	} {
		o := options("127.0.0.1:1")
		set(&o)
		if _, err := rabbit.New(o, quiet()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
