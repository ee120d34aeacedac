// Package fernet seals and opens Fernet messages under a folder of keys as
// keystone-manage fernet_setup makes it.
package fernet

import (
	"crypto/aes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ErrInvalid is every reason why a message does not open.
var ErrInvalid = errors.New("not a Fernet message under any known key")

const (
	// interval is how long what was seen of the folder is believed.
	interval = time.Second
	// freshLooks is how many looks out of turn there may be in one interval,
	// for messages that no loaded key opens.
	freshLooks = 10
)

// Repository is a key folder that is looked at while it is used: what another
// process does to its keys is seen within a second, without a signal.
type Repository struct {
	dir   string
	now   func() time.Time
	start time.Time
	keys  atomic.Pointer[keyset]
	next  atomic.Int64  // when to look again, as time since start
	looks atomic.Uint64 // looks begun

	mu     sync.Mutex // held during a look
	seen   string     // the fingerprint of what keys was read from
	err    error      // why the last look failed
	recent [freshLooks]time.Duration
	oldest int // index into recent
}

// Open reads the keys of a folder and fails when there is none.
func Open(dir string, now func() time.Time) (*Repository, error) {
	r := &Repository{dir: dir, now: now, start: now()}
	for i := range r.recent {
		r.recent[i] = -interval
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o005 != 0 {
		slog.Warn("the key folder is open to everybody", "dir", dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.Store(int64(interval))
	r.look(true)
	if r.err != nil {
		return nil, fmt.Errorf("read Fernet keys: %w", r.err)
	}
	return r, nil
}

// Encrypt seals the payload with the primary key, without base64 padding;
// issued is the time in the message, in whole seconds.
func (r *Repository) Encrypt(payload []byte) (token string, issued time.Time, err error) {
	r.glance()
	var iv [aes.BlockSize]byte
	if _, err := rand.Read(iv[:]); err != nil {
		return "", time.Time{}, fmt.Errorf("make an IV: %w", err)
	}
	issued = time.Unix(r.now().Unix(), 0).UTC()
	return r.keys.Load().ring[0].Seal(payload, iv, issued), issued, nil
}

// Decrypt opens a message under any key, or fails with ErrInvalid.
func (r *Repository) Decrypt(token string) (payload []byte, issued time.Time, err error) {
	return r.AppendDecrypt(nil, token)
}

// AppendDecrypt is Decrypt that appends the payload to dst.
func (r *Repository) AppendDecrypt(dst []byte, token string) ([]byte, time.Time, error) {
	r.glance()
	m := take()
	defer m.give()
	if !m.read(token) {
		return dst, time.Time{}, ErrInvalid
	}
	keys := r.keys.Load()
	payload, issued, err := keys.ring.open(dst, m)
	if err == nil {
		return payload, issued, nil
	}
	if fresh := r.lookAgain(r.looks.Load()); fresh != keys {
		return fresh.ring.open(dst, m)
	}
	return dst, time.Time{}, ErrInvalid
}

// Info describes the keys in use; it holds none.
type Info struct {
	// Keys is how many there are, Primary the number of the one that seals.
	Keys, Primary int
	// PrimaryHash is Key.Hash of the primary key.
	PrimaryHash string
	// Rotated is when the newest key was made: the last rotation.
	Rotated time.Time
	// Err is why the last look at the folder failed, nil when it did not.
	Err error
}

// Info describes the keys in use.
func (r *Repository) Info() Info {
	r.glance()
	keys := r.keys.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	return Info{
		Keys:        len(keys.ring),
		Primary:     keys.primary,
		PrimaryHash: keys.ring[0].Hash(),
		Rotated:     keys.rotated,
		Err:         r.err,
	}
}

// glance looks at the folder if it is time to. One caller does, the others go
// on with the keys there are.
func (r *Repository) glance() {
	now := int64(r.now().Sub(r.start))
	next := r.next.Load()
	early := now < next && next-now <= int64(interval) // else the clock was set back
	if early || !r.next.CompareAndSwap(next, now+int64(interval)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look(false)
}

// lookAgain returns the keys as they are on the disk, unless there were too
// many such looks of late. A look that began after the caller had counted
// them serves as well as a new one.
func (r *Repository) lookAgain(counted uint64) *keyset {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looks.Load() == counted && r.allowed() {
		r.look(true)
	}
	return r.keys.Load()
}

// allowed spends one of the looks out of turn.
func (r *Repository) allowed() bool {
	now := r.now().Sub(r.start)
	if past := now - r.recent[r.oldest]; past >= 0 && past < interval {
		return false
	}
	r.recent[r.oldest] = now
	r.oldest = (r.oldest + 1) % freshLooks
	return true
}

// look reads the keys anew if the folder shows a change, or if it is told to.
// Keys that cannot be read leave the last good ones in use.
func (r *Repository) look(always bool) {
	r.looks.Add(1)
	if !always && r.err == nil {
		if print, err := fingerprint(r.dir); err == nil && print == r.seen {
			return
		}
	}
	keys, err := load(r.dir)
	if err != nil {
		if r.keys.Load() != nil && (r.err == nil || r.err.Error() != err.Error()) {
			slog.Warn("Fernet keys not read, the last good ones stay in use", "dir", r.dir, "error", err)
		}
		r.err = err
		return
	}
	if keys.seen != r.seen {
		for _, name := range keys.empty {
			slog.Warn("an empty key file is passed over", "dir", r.dir, "file", name)
		}
	}
	r.err, r.seen = nil, keys.seen
	if old := r.keys.Load(); old == nil || !old.equal(keys) {
		r.keys.Store(keys)
	}
}
