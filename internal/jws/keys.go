package jws

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/follow"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// ErrInvalid is every reason why a text is not a message signed by a known
// key under an accepted algorithm.
var ErrInvalid = errors.New("not signed by a known key")

const (
	// privateFile is the one private key that signs.
	privateFile = "private.pem"
	// dataLink is what Kubernetes turns to change all files of a volume.
	dataLink = "..data"
	// longestFile and longestToken are more than any key or token needs.
	longestFile  = 64 << 10
	longestToken = 64 << 10
)

// Config names the folders and algorithms, as [jwt_tokens] does.
type Config struct {
	PrivateDir, PublicDir string
	Sign                  Algorithm
	Accept                []Algorithm
	Now                   func() time.Time // the clock, time.Now when nil
	Log                   *slog.Logger     // slog.Default() when nil
}

// Keys signs with private.pem and verifies with every key of the public
// folder. Changes of the files are seen within a second.
type Keys struct {
	cfg   Config
	files *follow.Value[*keyset]
}

// keyset is what one reading of the folders gave.
type keyset struct {
	signer crypto.Signer
	public []namedKey
	seen   seen
}

type namedKey struct {
	name string
	alg  Algorithm
	key  crypto.PublicKey
}

// Open reads the keys. It fails where Python Keystone does: without
// private.pem, and without a public key.
func Open(cfg Config) (*Keys, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	for _, a := range append([]Algorithm{cfg.Sign}, cfg.Accept...) {
		if !a.Known() {
			return nil, fmt.Errorf("there is no JWS algorithm %q, only %v", a, Algorithms)
		}
	}
	k := &Keys{cfg: cfg}
	files, err := follow.Open(follow.Source[*keyset]{
		Print: k.print, Load: k.load, Now: cfg.Now, Changed: k.check,
		Failed: func(err error) {
			cfg.Log.Warn("JWS keys not read, the last good ones stay in use", "error", err)
		},
	})
	if err != nil {
		return nil, err
	}
	k.files = files
	k.check(files.Get())
	if !slices.Contains(cfg.Accept, cfg.Sign) {
		cfg.Log.Warn("[jwt_tokens] jws_accepted_algorithms lacks jws_algorithm: tokens that are issued here are not accepted here", "algorithm", string(cfg.Sign))
	}
	return k, nil
}

// check tells of keys that work and are probably not meant.
func (k *Keys) check(s *keyset) {
	own, ok := s.signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !slices.ContainsFunc(s.public, func(n namedKey) bool { return own.Equal(n.key) }) {
		k.cfg.Log.Warn("No public key belongs to private.pem: tokens that are issued here are not accepted here", "dir", k.cfg.PublicDir)
	}
}

// Err is why the last look at the files failed, nil when it did not.
func (k *Keys) Err() error { return k.files.Err() }

func (k *Keys) privatePath() string { return filepath.Join(k.cfg.PrivateDir, privateFile) }

func (k *Keys) print() (string, error) {
	out := follow.Stamp(nil, k.privatePath())
	names, err := publicFiles(k.cfg.PublicDir)
	if err != nil {
		return "", err
	}
	out = follow.Stamp(out, k.cfg.PublicDir)
	for _, name := range names {
		out = follow.Stamp(out, filepath.Join(k.cfg.PublicDir, name))
	}
	for _, dir := range []string{k.cfg.PrivateDir, k.cfg.PublicDir} {
		if target, err := os.Readlink(filepath.Join(dir, dataLink)); err == nil {
			out = append(out, target...)
		}
	}
	return string(out), nil
}

// publicFiles lists the files of the folder by name, whatever their names are.
func publicFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("[jwt_tokens] jws_public_key_repository: %w", err)
	}
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (k *Keys) load(last *keyset) (*keyset, error) {
	text, err := readFile(k.privatePath())
	if err != nil {
		return nil, fmt.Errorf("[jwt_tokens] jws_private_key_repository: %w; create_jws_keypair makes a pair", err)
	}
	s := &keyset{}
	if s.signer, err = parsePrivate(text); err != nil {
		return nil, fmt.Errorf("%s: %w", k.privatePath(), err)
	}
	if have := algorithmOf(s.signer.Public()); have != k.cfg.Sign {
		return nil, fmt.Errorf("%s is no key for [jwt_tokens] jws_algorithm = %s", k.privatePath(), k.cfg.Sign)
	}
	names, err := publicFiles(k.cfg.PublicDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if key, ok := k.loadPublic(name, last); ok {
			s.public = append(s.public, key)
		}
	}
	if len(s.public) == 0 {
		return nil, fmt.Errorf("[jwt_tokens] jws_public_key_repository: %s holds no public key; create_jws_keypair makes a pair", k.cfg.PublicDir)
	}
	return s, nil
}

// loadPublic reads one file. One that is no key is passed over; if it was one
// before, it is being written, and the key stays.
func (k *Keys) loadPublic(name string, last *keyset) (namedKey, bool) {
	path := filepath.Join(k.cfg.PublicDir, name)
	text, err := readFile(path)
	if err == nil {
		var key crypto.PublicKey
		if key, err = parsePublic(text); err == nil {
			if alg := algorithmOf(key); alg != "" {
				return namedKey{name, alg, key}, true
			}
			err = errors.New("a key that no JWS algorithm uses")
		}
	}
	k.cfg.Log.Warn("A file among the public keys is passed over", "file", path, "error", err)
	if last != nil {
		if i := slices.IndexFunc(last.public, func(n namedKey) bool { return n.name == name }); i >= 0 {
			return last.public[i], true
		}
	}
	return namedKey{}, false
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, longestFile))
}

// Sign gives the compact form of a payload. The header is byte for byte
// Python's.
func (k *Keys) Sign(payload []byte) (string, error) {
	alg := k.cfg.Sign
	header := `{"alg":"` + string(alg) + `","typ":"JWT"}`
	text := encoding.AppendEncode(nil, []byte(header))
	text = append(text, '.')
	text = encoding.AppendEncode(text, payload)
	signature, err := alg.sign(k.files.Get().signer, text)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	text = append(text, '.')
	return string(encoding.AppendEncode(text, signature)), nil
}

// Verify gives the payload of a message, or fails with ErrInvalid.
func (k *Keys) Verify(message string) ([]byte, error) {
	// The decoder of base64 would pass over line ends.
	if len(message) > longestToken || strings.ContainsAny(message, "\r\n") {
		return nil, ErrInvalid
	}
	text, last, ok := cutLast(message)
	if !ok {
		return nil, ErrInvalid
	}
	first, middle, ok := strings.Cut(text, ".")
	alg := k.accepted(first)
	if !ok || alg == "" || strings.Contains(middle, ".") {
		return nil, ErrInvalid
	}
	signature, err1 := encoding.DecodeString(last)
	payload, err2 := encoding.DecodeString(middle)
	if err1 != nil || err2 != nil {
		return nil, ErrInvalid
	}
	keys := k.files.Get()
	if keys.verify(alg, message, []byte(text), signature) {
		return payload, nil
	}
	if fresh := k.files.Fresh(); fresh != keys && fresh.verify(alg, message, []byte(text), signature) {
		return payload, nil
	}
	return nil, ErrInvalid
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// accepted is the algorithm that a header names, "" when it is not accepted or
// the header asks for what is not understood.
func (k *Keys) accepted(header string) Algorithm {
	text, err := encoding.DecodeString(header)
	if err != nil {
		return ""
	}
	h, err := pyjson.DecodeObject(bytes.TrimSpace(text))
	if err != nil {
		return ""
	}
	if _, critical := h.Get("crit"); critical {
		return ""
	}
	if b64, ok := h.Get("b64"); ok && b64 != true {
		return ""
	}
	name, _ := h.String("alg")
	if alg := Algorithm(name); slices.Contains(k.cfg.Accept, alg) {
		return alg
	}
	return ""
}

// verify reports whether some key has signed the message.
func (s *keyset) verify(alg Algorithm, message string, text, signature []byte) bool {
	id := sha256.Sum256([]byte(message))
	if s.seen.has(id) {
		return true
	}
	for _, n := range s.public {
		if n.alg == alg && alg.verify(n.key, text, signature) {
			s.seen.add(id)
			return true
		}
	}
	return false
}
