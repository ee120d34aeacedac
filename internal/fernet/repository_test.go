package fernet_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

var anyone = fernet.Owner{UID: -1, GID: -1}

// clock is a clock that is set by hand.
type clock struct{ ns atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(1796000000, c.ns.Load()) }
func (c *clock) forward(d time.Duration) { c.ns.Add(int64(d)) }

// key makes the text of a key whose bytes are all c.
func key(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return strings.Repeat(alphabet[c:c+1], 43) + "="
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func open(t testing.TB, dir string, now func() time.Time) *fernet.Repository {
	t.Helper()
	r, err := fernet.Open(dir, now)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return r
}

func seal(t testing.TB, text string) string {
	t.Helper()
	return parse(t, text).Seal([]byte("payload"), [16]byte{1}, specTime)
}

// opens checks whether a message under the key opens.
func opens(t *testing.T, r *fernet.Repository, text string, want bool) {
	t.Helper()
	payload, issued, err := r.Decrypt(seal(t, text))
	switch {
	case want && (err != nil || string(payload) != "payload" || !issued.Equal(specTime)):
		t.Errorf("under %s: got %q, %v, %v", text[:2], payload, issued, err)
	case !want && !errors.Is(err, fernet.ErrInvalid):
		t.Errorf("under %s: got %v, want ErrInvalid", text[:2], err)
	}
}

// seals checks which key a fresh message is under.
func seals(t *testing.T, r *fernet.Repository, text string) {
	t.Helper()
	token, _, err := r.Encrypt([]byte("payload"))
	if err != nil {
		t.Fatalf("Encrypt: %v", err)
	}
	if _, _, err := parse(t, text).Open(token); err != nil {
		t.Errorf("the fresh message is not under %s", text[:2])
	}
}

// logged collects what is logged during a test.
func logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(old) })
	return &b
}

// A folder as a long-lived cloud has it.
func TestLivedInFolder(t *testing.T) {
	log := logged(t)
	dir := folder(t, map[string]string{
		"0": key(0), "129": key(1), "130": key(2) + "\n", "128": "",
		"0.tmp": key(3), ".tmp": key(4), "README": "do not touch\n", "-5": key(5),
	})
	if err := os.Mkdir(filepath.Join(dir, "200"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := new(clock)
	r := open(t, dir, c.Now)
	if !strings.Contains(log.String(), "file=128") || strings.Count(log.String(), "WARN") != 1 {
		t.Errorf("want one warning about 128, got:\n%s", log)
	}
	seals(t, r, key(2))
	for c := range byte(6) {
		opens(t, r, key(c), c <= 2)
	}
	if i := r.Info(); i.Keys != 3 || i.Primary != 130 || i.Err != nil || i.Rotated.IsZero() {
		t.Errorf("Info: got %+v", i)
	}

	if err := fernet.Rotate(dir, 3, anyone); err != nil {
		t.Fatalf("Rotate: %v", err)
	}
	c.forward(time.Second)
	seals(t, r, key(0))
	opens(t, r, key(2), true)
	opens(t, r, key(1), false)
	want := "-5 .tmp 0 128 130 131 200 README"
	if got := names(t, dir); got != want {
		t.Errorf("after a rotation: got %s, want %s", got, want)
	}
	if got := content(t, dir, "131"); got != key(0) {
		t.Error("131 is not what 0 was")
	}
}

func TestOnlyStagedKey(t *testing.T) {
	r := open(t, folder(t, map[string]string{"0": key(7)}), time.Now)
	seals(t, r, key(7))
	opens(t, r, key(7), true)
}

func TestIssuedIsInTheMessage(t *testing.T) {
	c := new(clock)
	c.forward(900 * time.Millisecond)
	r := open(t, folder(t, map[string]string{"0": key(1)}), c.Now)
	token, issued, err := r.Encrypt([]byte("x"))
	if err != nil || !issued.Equal(time.Unix(1796000000, 0)) || issued.Location() != time.UTC {
		t.Fatalf("Encrypt: got %v, %v", issued, err)
	}
	if _, got, err := r.Decrypt(token); err != nil || got != issued {
		t.Errorf("Decrypt: got %v, %v, want %v", got, err, issued)
	}
	again, _, _ := r.Encrypt([]byte("x"))
	if again == token {
		t.Error("the same message twice: the IV is not fresh")
	}
}

func TestOpenFails(t *testing.T) {
	secret := key(1)[:40]
	for name, dir := range map[string]string{
		"missing":   filepath.Join(t.TempDir(), "none"),
		"empty":     folder(t, nil),
		"no key":    folder(t, map[string]string{"README": "x", "1": "", "2": " \n"}),
		"not a key": folder(t, map[string]string{"0": key(0), "1": secret}),
	} {
		r, err := fernet.Open(dir, time.Now)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if r != nil || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error should name the folder and no key: %v", name, err)
		}
	}
}

// A change is seen once a second has gone by, and not looked for before.
func TestChangeIsSeenWithinASecond(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	c := new(clock)
	r := open(t, dir, c.Now)
	before := r.Looks()
	write(t, dir, "2", key(2))
	c.forward(999 * time.Millisecond)
	for range 100 {
		seals(t, r, key(1))
	}
	if got := r.Looks(); got != before {
		t.Errorf("%d looks in the first second", got-before)
	}
	c.forward(time.Millisecond)
	for range 100 {
		seals(t, r, key(2))
	}
	if got := r.Looks(); got != before+1 {
		t.Errorf("%d looks for one second", got-before)
	}
	// A clock that is set back does not stop the looking.
	c.forward(-time.Hour)
	write(t, dir, "3", key(3))
	seals(t, r, key(3))
}

// A message under a key that another node has made already opens at once.
func TestUnknownKeyLooksAgain(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	c := new(clock)
	r := open(t, dir, c.Now)
	write(t, dir, "2", key(2))
	opens(t, r, key(2), true)
	seals(t, r, key(2))

	// Even where nothing that stat tells has changed.
	path := filepath.Join(dir, "0")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "0", key(3))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	opens(t, r, key(3), true)
}

func TestLooksOutOfTurnAreFew(t *testing.T) {
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	c := new(clock)
	r := open(t, dir, c.Now)
	for second := range 3 {
		before := r.Looks()
		for range 500 {
			opens(t, r, key(9), false)
		}
		// One is the look whose turn it was.
		if got := r.Looks() - before; got < 10 || got > 11 {
			t.Errorf("second %d: %d looks for 500 unknown messages, want 10", second, got)
		}
		c.forward(time.Second)
	}
	before := r.Looks()
	for _, text := range []string{"rubbish", strings.Repeat("x", 200), "", specToken[:60]} {
		if _, _, err := r.Decrypt(text); !errors.Is(err, fernet.ErrInvalid) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if got := r.Looks() - before; got > 1 {
		t.Errorf("%d looks for texts that are no messages at all", got)
	}
}

func TestFailingLookKeepsTheKeys(t *testing.T) {
	log := logged(t)
	dir := folder(t, map[string]string{"0": key(0), "1": key(1)})
	c := new(clock)
	r := open(t, dir, c.Now)
	half := key(2)[:20]
	for name, spoil := range map[string]func(){
		"half a key": func() { write(t, dir, "2", half) },
		"no folder": func() {
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		log.Reset()
		spoil()
		for range 5 {
			c.forward(time.Second)
			seals(t, r, key(1))
			opens(t, r, key(0), true)
		}
		if r.Info().Err == nil {
			t.Errorf("%s: Info knows of no error", name)
		}
		if n := strings.Count(log.String(), "WARN"); n != 1 || strings.Contains(log.String(), half) {
			t.Errorf("%s: want one warning without the key, got:\n%s", name, log)
		}
		os.Rename(dir+".away", dir)
		os.Remove(filepath.Join(dir, "2"))
		c.forward(time.Second)
		if err := r.Info().Err; err != nil {
			t.Errorf("%s, mended: %v", name, err)
		}
	}
	write(t, dir, "2", key(2))
	c.forward(time.Second)
	seals(t, r, key(2))
}

// Kubernetes puts the files of a volume behind a link that it turns.
func TestKubernetesVolume(t *testing.T) {
	dir := folder(t, nil)
	link := func(target, name string) {
		t.Helper()
		next := filepath.Join(dir, "..next")
		if err := os.Symlink(target, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	publish := func(version string, files map[string]string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			write(t, filepath.Join(dir, version), name, text)
		}
		link(version, "..data")
	}
	publish("..v1", map[string]string{"0": key(0), "1": key(1)})
	link("..data/0", "0")
	link("..data/1", "1")
	c := new(clock)
	r := open(t, dir, c.Now)
	seals(t, r, key(1))

	publish("..v2", map[string]string{"0": key(2), "1": key(3)})
	c.forward(time.Second)
	seals(t, r, key(3))
	opens(t, r, key(2), true)

	// Between the turning of the link and the new file's link, 2 is not there.
	publish("..v3", map[string]string{"0": key(4), "1": key(3), "2": key(2)})
	c.forward(time.Second)
	seals(t, r, key(3))
	link("..data/2", "2")
	c.forward(time.Second)
	seals(t, r, key(2))
	opens(t, r, key(4), true)
}

// Ten rotations under load lose no message: each opens on a second node that
// shares the folder, and all that max_active_keys covers still open at the end.
func TestRotationUnderUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := fernet.Setup(dir, anyone); err != nil {
		t.Fatalf("Setup: %v", err)
	}
	const rotations = 10
	ours, theirs := open(t, dir, time.Now), open(t, dir, time.Now)
	stop := make(chan struct{})
	tokens := make([][]string, 4)
	var users sync.WaitGroup
	for i := range tokens {
		users.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				payload := fmt.Sprintf("%d-%d", i, n)
				token, _, err := ours.Encrypt([]byte(payload))
				if err != nil {
					t.Errorf("Encrypt: %v", err)
					return
				}
				if got, _, err := theirs.Decrypt(token); err != nil || string(got) != payload {
					t.Errorf("Decrypt: got %q, %v, want %q", got, err, payload)
					return
				}
				if n%100 == 0 {
					tokens[i] = append(tokens[i], token)
				}
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	for range rotations {
		time.Sleep(30 * time.Millisecond)
		if err := fernet.Rotate(dir, rotations+2, anyone); err != nil {
			t.Errorf("Rotate: %v", err)
		}
	}
	close(stop)
	users.Wait()
	kept := 0
	for _, some := range tokens {
		for _, token := range some {
			kept++
			if _, _, err := theirs.Decrypt(token); err != nil {
				t.Errorf("a token is lost: %v", err)
			}
		}
	}
	if kept < 4 {
		t.Errorf("only %d tokens were kept: nothing was tested", kept)
	}
}

func TestVisibleWithinASecondByTheRealClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := fernet.Setup(dir, anyone); err != nil {
		t.Fatalf("Setup: %v", err)
	}
	r := open(t, dir, time.Now)
	if err := fernet.Rotate(dir, 3, anyone); err != nil {
		t.Fatalf("Rotate: %v", err)
	}
	changed := time.Now()
	primary := parse(t, content(t, dir, "2"))
	for {
		after := time.Since(changed)
		token, _, err := r.Encrypt(nil)
		if err != nil {
			t.Fatalf("Encrypt: %v", err)
		}
		if _, _, err := primary.Open(token); err == nil {
			break
		}
		if after > time.Second {
			t.Fatalf("a token asked for %v after the rotation is of the old primary", after)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
