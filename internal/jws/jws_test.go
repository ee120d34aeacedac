package jws_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/jws"
)

// repo is a pair of key folders.
type repo struct {
	private, public string
	now             time.Time
	log             bytes.Buffer
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	dir := t.TempDir()
	r := &repo{private: filepath.Join(dir, "private"), public: filepath.Join(dir, "public"), now: time.Unix(1796000000, 0)}
	for _, d := range []string{r.private, r.public} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func pair(t *testing.T, alg jws.Algorithm) (private, public []byte) {
	t.Helper()
	private, public, err := jws.GenerateKey(alg)
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

// sign puts a new pair into the folders, the public half under a name.
func (r *repo) pair(t *testing.T, alg jws.Algorithm, name string) {
	t.Helper()
	private, public := pair(t, alg)
	write(t, r.public, name, public)
	write(t, r.private, "private.pem", private)
}

func (r *repo) config(algs ...jws.Algorithm) jws.Config {
	return jws.Config{
		PrivateDir: r.private, PublicDir: r.public, Sign: algs[0], Accept: algs,
		Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
}

func (r *repo) open(t *testing.T, algs ...jws.Algorithm) *jws.Keys {
	t.Helper()
	k, err := jws.Open(r.config(algs...))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t *testing.T, k *jws.Keys, payload string) string {
	t.Helper()
	text, err := k.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func accepts(k *jws.Keys, message, payload string) error {
	got, err := k.Verify(message)
	if err != nil {
		return err
	}
	if string(got) != payload {
		return fmt.Errorf("payload %q", got)
	}
	return nil
}

func TestEveryAlgorithm(t *testing.T) {
	for _, alg := range jws.Algorithms {
		r := newRepo(t)
		r.pair(t, alg, "public.pem")
		k := r.open(t, alg)
		for range 20 { // r and s of every length
			text := sign(t, k, `{"x":1}`)
			if err := accepts(k, text, `{"x":1}`); err != nil {
				t.Errorf("%s: %v", alg, err)
			}
			end := strings.LastIndexByte(text, '.')
			signature, err := base64.RawURLEncoding.DecodeString(text[end+1:])
			if err != nil {
				t.Fatal(err)
			}
			signature[len(signature)-1] ^= 1
			if _, err := k.Verify(text[:end+1] + base64.RawURLEncoding.EncodeToString(signature)); !errors.Is(err, jws.ErrInvalid) {
				t.Errorf("%s, another signature: %v", alg, err)
			}
		}
		if r.log.Len() > 0 {
			t.Errorf("%s: %s", alg, &r.log)
		}
	}
}

// A new key is seen within a second when it signs, and at once when something
// arrives that it has signed.
func TestRotation(t *testing.T) {
	r := newRepo(t)
	r.pair(t, jws.ES256, "one.pem")
	here, there := r.open(t, jws.ES256), r.open(t, jws.ES256)
	before := sign(t, here, "before")
	r.pair(t, jws.ES256, "two")
	r.now = r.now.Add(time.Second)
	after := sign(t, here, "after")
	for _, k := range []*jws.Keys{here, there} {
		for text, payload := range map[string]string{before: "before", after: "after"} {
			if err := accepts(k, text, payload); err != nil {
				t.Errorf("%s: %v", payload, err)
			}
		}
	}
	if err := os.Remove(filepath.Join(r.public, "one.pem")); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(time.Second)
	if _, err := here.Verify(before); !errors.Is(err, jws.ErrInvalid) {
		t.Errorf("under a key that is gone: %v", err)
	}
	if err := accepts(here, after, "after"); err != nil {
		t.Errorf("under the other: %v", err)
	}
}

// While one algorithm takes over from another, both are accepted.
func TestChangeOfAlgorithm(t *testing.T) {
	r := newRepo(t)
	r.pair(t, jws.ES256, "es256.pem")
	old := sign(t, r.open(t, jws.ES256), "old")
	r.pair(t, jws.EdDSA, "eddsa.pem")
	k := r.open(t, jws.EdDSA, jws.ES256)
	for text, payload := range map[string]string{old: "old", sign(t, k, "new"): "new"} {
		if err := accepts(k, text, payload); err != nil {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if _, err := r.open(t, jws.EdDSA).Verify(old); !errors.Is(err, jws.ErrInvalid) {
		t.Errorf("an algorithm that is not accepted: %v", err)
	}
	cfg := r.config(jws.EdDSA)
	cfg.Accept = []jws.Algorithm{jws.ES256}
	own, err := jws.Open(cfg)
	if err != nil || !strings.Contains(r.log.String(), "jws_accepted_algorithms lacks jws_algorithm") {
		t.Fatalf("%v; log: %s", err, &r.log)
	}
	if _, err := own.Verify(sign(t, own, "x")); !errors.Is(err, jws.ErrInvalid) {
		t.Errorf("its own token, not accepted: %v", err)
	}
}

func TestBrokenFilesLeaveTheLastGoodKeys(t *testing.T) {
	r := newRepo(t)
	r.pair(t, jws.ES256, "public.pem")
	k := r.open(t, jws.ES256)
	text := sign(t, k, "x")
	public, err := os.ReadFile(filepath.Join(r.public, "public.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(){
		"half a public key": func() { write(t, r.public, "public.pem", public[:60]) },
		"a bad private key": func() { write(t, r.private, "private.pem", []byte("-----BEGIN PRIVATE KEY-----\n")) },
		"no private key":    func() { _ = os.Remove(filepath.Join(r.private, "private.pem")) },
		"no public key":     func() { _ = os.Remove(filepath.Join(r.public, "public.pem")) },
		"another algorithm": func() { r.pair(t, jws.EdDSA, "other.pem") },
	} {
		spoil()
		r.now = r.now.Add(time.Second)
		if err := accepts(k, text, "x"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := accepts(k, sign(t, k, "y"), "y"); err != nil {
			t.Errorf("%s, a new token: %v", what, err)
		}
	}
	if k.Err() == nil || !strings.Contains(r.log.String(), "the last good ones stay in use") {
		t.Errorf("Err: %v; log: %s", k.Err(), &r.log)
	}
	if strings.Contains(r.log.String(), "BEGIN") {
		t.Errorf("the log shows a key: %s", &r.log)
	}
}

func TestOpenFails(t *testing.T) {
	_, other := pair(t, jws.ES384)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	asRSA := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	for what, c := range map[string]struct {
		spoil func(r *repo)
		says  string
	}{
		"no private key": {func(r *repo) { _ = os.Remove(r.private + "/private.pem") }, "jws_private_key_repository"},
		"an empty key":   {func(r *repo) { write(t, r.private, "private.pem", nil) }, "no unencrypted private key"},
		"an encrypted key": {func(r *repo) {
			write(t, r.private, "private.pem", []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"))
		}, "no unencrypted private key"},
		"an RSA key":         {func(r *repo) { write(t, r.private, "private.pem", asRSA) }, "is no key for [jwt_tokens] jws_algorithm = ES256"},
		"another curve":      {func(r *repo) { r.pair(t, jws.ES384, "public.pem") }, "is no key for [jwt_tokens] jws_algorithm = ES256"},
		"no public folder":   {func(r *repo) { _ = os.RemoveAll(r.public) }, "jws_public_key_repository"},
		"no public key":      {func(r *repo) { _ = os.Remove(r.public + "/public.pem") }, "holds no public key"},
		"only a strange one": {func(r *repo) { write(t, r.public, "public.pem", []byte("ssh-ed25519 AAAA")) }, "holds no public key"},
	} {
		r := newRepo(t)
		r.pair(t, jws.ES256, "public.pem")
		c.spoil(r)
		if _, err := jws.Open(r.config(jws.ES256)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", what, err, c.says)
		}
	}
	r := newRepo(t)
	r.pair(t, jws.ES256, "public.pem")
	write(t, r.public, "public.pem", other)
	r.open(t, jws.ES256)
	if !strings.Contains(r.log.String(), "No public key belongs to private.pem") {
		t.Errorf("log: %s", &r.log)
	}
	if _, err := jws.Open(r.config("RS256")); err == nil || !strings.Contains(err.Error(), "ES256") {
		t.Errorf("RS256: %v", err)
	}
}

// What else may lie in the folders does no harm; both may be one folder.
func TestOneFolderWithOtherFiles(t *testing.T) {
	r := newRepo(t)
	r.private = r.public
	r.pair(t, jws.ES512, "public.pem")
	write(t, r.public, "README", []byte("keys"))
	if err := os.Mkdir(filepath.Join(r.public, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	k := r.open(t, jws.ES512)
	if err := accepts(k, sign(t, k, "x"), "x"); err != nil {
		t.Error(err)
	}
	if n := strings.Count(r.log.String(), "passed over"); n != 1 {
		t.Errorf("%d files are passed over: %s", n, &r.log)
	}
	if err := os.Remove(filepath.Join(r.public, "public.pem")); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(time.Second)
	if err := accepts(k, sign(t, k, "y"), "y"); err != nil || k.Err() != nil {
		t.Errorf("by the private key alone: %v, %v", err, k.Err())
	}
}

// A volume of Kubernetes changes by one link.
func TestVolumeOfKubernetes(t *testing.T) {
	r := newRepo(t)
	dir := filepath.Dir(r.private)
	fill := func(version string) {
		v := filepath.Join(dir, version)
		if err := os.Mkdir(v, 0o700); err != nil {
			t.Fatal(err)
		}
		private, public := pair(t, jws.ES256)
		write(t, v, "private.pem", private)
		write(t, v, "public.pem", public)
		if err := os.Symlink(version, filepath.Join(dir, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	fill("..1")
	for _, l := range []struct{ dir, name string }{{r.private, "private.pem"}, {r.public, "public.pem"}} {
		if err := os.Symlink("../..data/"+l.name, filepath.Join(l.dir, l.name)); err != nil {
			t.Fatal(err)
		}
	}
	k := r.open(t, jws.ES256)
	old := sign(t, k, "old")
	fill("..2")
	r.now = r.now.Add(time.Second)
	if err := accepts(k, sign(t, k, "new"), "new"); err != nil {
		t.Error(err)
	}
	if _, err := k.Verify(old); !errors.Is(err, jws.ErrInvalid) {
		t.Errorf("the old key: %v", err)
	}
}

// A flood of right tokens, and then the first one again.
func TestManyMessages(t *testing.T) {
	r := newRepo(t)
	r.pair(t, jws.EdDSA, "public.pem")
	k := r.open(t, jws.EdDSA)
	first := sign(t, k, "first")
	for i := range 4500 {
		payload := fmt.Sprint(i)
		if err := accepts(k, sign(t, k, payload), payload); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			if err := accepts(k, first, "first"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	dir := f.TempDir()
	private, public, err := jws.GenerateKey(jws.EdDSA)
	if err != nil {
		f.Fatal(err)
	}
	for name, text := range map[string][]byte{"private.pem": private, "public.pem": public} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	k, err := jws.Open(jws.Config{PrivateDir: dir, PublicDir: dir, Sign: jws.EdDSA, Accept: jws.Algorithms, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	good, err := k.Sign([]byte("x"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("..")
	f.Add("eyJhbGciOiJub25lIn0.eDE.")
	f.Fuzz(func(t *testing.T, message string) {
		if _, err := k.Verify(message); err == nil && message != good {
			t.Errorf("%q is taken for signed", message)
		}
	})
}
