package fernet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

// The vector of the Fernet specification (github.com/fernet/spec).
const (
	specKey   = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4="
	specToken = "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA=="
)

var specTime = time.Date(1985, 10, 26, 8, 20, 0, 0, time.UTC)

func parse(t testing.TB, text string) *fernet.Key {
	t.Helper()
	k, err := fernet.ParseKey(text)
	if err != nil {
		t.Fatalf("ParseKey(%q): %v", text, err)
	}
	return k
}

func TestSpecVector(t *testing.T) {
	k := parse(t, specKey)
	var iv [16]byte
	for i := range iv {
		iv[i] = byte(i)
	}
	bare := strings.TrimRight(specToken, "=")
	if got := k.Seal([]byte("hello"), iv, specTime); got != bare {
		t.Errorf("Seal: got %s, want %s", got, bare)
	}
	for _, text := range []string{specToken, bare, bare + "="} {
		payload, issued, err := k.Open(text)
		if err != nil || string(payload) != "hello" || !issued.Equal(specTime) {
			t.Errorf("Open(%s): got %q, %v, %v", text, payload, issued, err)
		}
	}
}

func TestKeyText(t *testing.T) {
	want, _, _ := parse(t, specKey).Open(specToken)
	for _, text := range []string{
		specKey + "\n", specKey + "\r\n", "  " + specKey + " \t",
		strings.NewReplacer("-", "+", "_", "/").Replace(specKey),
	} {
		if got, _, err := parse(t, text).Open(specToken); err != nil || string(got) != string(want) {
			t.Errorf("key %q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "x", specKey[:43], specKey[:40], specKey + specKey, specKey + "=", "!" + specKey[1:],
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=AAAA",
	} {
		_, err := fernet.ParseKey(text)
		if err == nil {
			t.Errorf("ParseKey(%q): no error", text)
		} else if text != "x" && strings.TrimSpace(text) != "" && strings.Contains(err.Error(), text) {
			t.Errorf("ParseKey(%q): the error shows the key: %v", text, err)
		}
	}
	// sha1sum of the file's text, as credential.key_hash has it.
	if got, want := parse(t, specKey).Hash(), "eb094b4d2f8c02024d4443206b6e8a9a7f2da3eb"; got != want {
		t.Errorf("Hash: got %s, want %s", got, want)
	}
}

func TestKeyIsHidden(t *testing.T) {
	k := parse(t, specKey)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, k); got != "fernet.Key" {
			t.Errorf("%s shows %s", verb, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	k := parse(t, specKey)
	bare := strings.TrimRight(specToken, "=")
	flip := func(i int, c byte) string { return bare[:i] + string(c) + bare[i+1:] }
	cases := map[string]string{
		"empty":                "",
		"text":                 "rubbish",
		"no base64":            strings.Repeat("!", len(bare)),
		"too much padding":     bare + "===",
		"padding inside":       bare[:50] + "=" + bare[50:],
		"a line end":           bare[:50] + "\n" + bare[50:],
		"a line end behind":    bare + "\n",
		"the other alphabet":   strings.NewReplacer("-", "+", "_", "/").Replace(bare),
		"a bit behind the end": bare[:len(bare)-1] + "B",
		"truncated":            bare[:len(bare)-4],
		"lengthened":           bare + "AAAA",
		"a block less":         bare[:len(bare)-64],
		"another version":      flip(0, 'h'),
		"another time":         flip(10, 'B'),
		"another IV":           flip(20, 'x'),
		"another body":         flip(45, 'x'),
		"another signature":    flip(90, 'x'),
		"a JWT":                "eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2ln",
		"long":                 strings.Repeat("gAAAAA", 100_000),
		"NUL":                  "\x00" + bare,
	}
	for name, text := range cases {
		if payload, _, err := k.Open(text); !errors.Is(err, fernet.ErrInvalid) || payload != nil {
			t.Errorf("%s: got %q, %v, want ErrInvalid", name, payload, err)
		}
	}
	other := parse(t, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if _, _, err := other.Open(specToken); !errors.Is(err, fernet.ErrInvalid) {
		t.Errorf("another key: got %v, want ErrInvalid", err)
	}
}

// A time that cannot be written is no time, even under a good signature.
func TestOpenRefusesDistantTime(t *testing.T) {
	k := parse(t, specKey)
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if _, issued, err := k.Open(k.Seal(nil, [16]byte{}, last)); err != nil || !issued.Equal(last) {
		t.Errorf("the last second of 9999: got %v, %v", issued, err)
	}
	for _, at := range []time.Time{last.Add(time.Second), time.Unix(-1, 0)} {
		if _, _, err := k.Open(k.Seal(nil, [16]byte{}, at)); !errors.Is(err, fernet.ErrInvalid) {
			t.Errorf("%v: got %v, want ErrInvalid", at, err)
		}
	}
}

func TestLengths(t *testing.T) {
	k := parse(t, specKey)
	for n := range 100 {
		want := strings.Repeat("x", n)
		if got, _, err := k.Open(k.Seal([]byte(want), [16]byte{1}, specTime)); err != nil || string(got) != want {
			t.Errorf("%d bytes: got %q, %v", n, got, err)
		}
	}
}

func TestDecryptAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled buffers on purpose")
	}
	r := open(t, folder(t, map[string]string{"0": key(0), "1": key(1), "2": key(2)}), time.Now)
	for _, c := range []byte{2, 0} { // under the primary key and under the last one tried
		token := parse(t, key(c)).Seal(make([]byte, 90), [16]byte{}, specTime)
		got := testing.AllocsPerRun(1000, func() {
			if _, _, err := r.Decrypt(token); err != nil {
				t.Fatal(err)
			}
		})
		if got > 2 {
			t.Errorf("Decrypt: %v allocations, want at most 2: the payload and the cipher's state", got)
		}
	}
	got := testing.AllocsPerRun(1000, func() { r.Decrypt("gAAAAABrubbish" + specToken[:20]) })
	if got > 1 {
		t.Errorf("Decrypt of rubbish: %v allocations", got)
	}
}

func BenchmarkDecrypt(b *testing.B) {
	r := open(b, folder(b, map[string]string{"0": key(0), "1": key(1), "2": key(2)}), time.Now)
	token := parse(b, key(2)).Seal(make([]byte, 90), [16]byte{}, specTime)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Decrypt(token); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncrypt(b *testing.B) {
	r := open(b, folder(b, map[string]string{"0": key(0), "1": key(1), "2": key(2)}), time.Now)
	payload := make([]byte, 90)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Encrypt(payload); err != nil {
			b.Fatal(err)
		}
	}
}
