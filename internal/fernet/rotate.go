package fernet

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// temporary is the name under which a new key is written.
const temporary = "0.tmp"

// ErrNotSetUp is Rotate's answer for a folder without a staged key.
var ErrNotSetUp = errors.New("there is no staged key 0: run the setup first")

// Owner is the user and group of what Setup and Rotate make; -1 leaves one.
type Owner struct{ UID, GID int }

// give makes a file the owner's.
func (o Owner) give(path string) error {
	if o.UID == -1 && o.GID == -1 {
		return nil
	}
	return os.Chown(path, o.UID, o.GID)
}

// Initialized reports whether Setup has nothing to do.
func Initialized(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, staged))
	return err == nil
}

// Setup makes the folder and its first keys, 0 and 1; it does nothing when
// there is a key 0 (see Initialized). A failure leaves no key behind.
func Setup(dir string, owner Owner) error {
	return disk{}.setup(dir, owner)
}

// Rotate makes key 0 the primary, makes a new 0 and deletes the oldest keys
// beyond maxActive. A failure leaves the folder as it was.
func Rotate(dir string, maxActive int, owner Owner) error {
	return disk{}.rotate(dir, maxActive, owner)
}

// disk is what a rotation does to a folder. before is nil but in tests, which
// let a step fail.
type disk struct{ before func(step, path string) error }

func (d disk) setup(dir string, owner Owner) (err error) {
	if Initialized(dir) {
		slog.Info("Key repository is already initialized", "dir", dir)
		return nil
	}
	made, err := makeFolder(dir, owner)
	if err != nil {
		return fmt.Errorf("set up key folder: %w", err)
	}
	if err := d.firstKeys(dir, owner); err != nil {
		if made {
			os.Remove(dir)
		}
		return fmt.Errorf("set up key folder: %w", err)
	}
	return nil
}

// makeFolder makes the folder if it is missing, for its owner alone; folders
// above it that are missing too are for everybody to pass through.
func makeFolder(dir string, owner Owner) (made bool, err error) {
	dir = filepath.Clean(dir) // the folder above "keys/" is not "keys"
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return false, err
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, os.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := owner.give(dir); err != nil {
		os.Remove(dir)
		return false, err
	}
	return true, nil
}

func (d disk) firstKeys(dir string, owner Owner) error {
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	if Initialized(dir) {
		return nil // by another process, since the last look
	}
	first, fresh := filepath.Join(dir, staged), filepath.Join(dir, temporary)
	if err := d.write(fresh, owner); err != nil {
		return err
	}
	if err := d.rename(fresh, first); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := d.rotateLocked(dir, math.MaxInt, owner); err != nil {
		return errors.Join(err, os.Remove(first))
	}
	return nil
}

func (d disk) rotate(dir string, maxActive int, owner Owner) error {
	if maxActive < 1 {
		return fmt.Errorf("rotate keys: max_active_keys is %d, at least 1 is needed", maxActive)
	}
	unlock, err := lock(dir)
	if err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	defer unlock()
	if err := d.rotateLocked(dir, maxActive, owner); err != nil {
		return fmt.Errorf("rotate keys: %w", err)
	}
	return nil
}

// rotateLocked follows the steps of rotate_keys in
// keystone/common/fernet_utils.py: with maxActive 1 only the new staged key
// is left.
func (d disk) rotateLocked(dir string, maxActive int, owner Owner) error {
	keys, err := filled(dir)
	if err != nil {
		return err
	}
	number := keys[0].number + 1
	if err := d.promote(dir, number, owner); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	syncFolder(dir)
	active := []string{filepath.Join(dir, strconv.Itoa(number))}
	for _, k := range keys[:len(keys)-1] {
		active = append(active, k.path)
	}
	for len(active) > maxActive-1 {
		last := len(active) - 1
		if err := d.remove(active[last]); err != nil {
			return fmt.Errorf("done, but an old key stays: %w", err)
		}
		active = active[:last]
	}
	return nil
}

// filled returns the key files that hold one, the highest number first, and
// fails if the last is not a usable staged key. Empty files are no keys: they
// are neither counted nor deleted, as in keystone/common/fernet_utils.py.
func filled(dir string) ([]keyFile, error) {
	files, err := keyFiles(dir)
	if err != nil {
		return nil, err
	}
	var keys []keyFile
	for _, f := range files {
		if !f.blank() {
			keys = append(keys, f)
		}
	}
	if len(keys) == 0 || keys[len(keys)-1].number != 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotSetUp)
	}
	last := keys[len(keys)-1]
	if _, err := ParseKey(last.text); err != nil {
		return nil, fmt.Errorf("%s: %w", last.path, err)
	}
	return keys, nil
}

// promote writes the new staged key and gives the old one its number, or
// undoes what it did.
func (d disk) promote(dir string, number int, owner Owner) error {
	var (
		fresh   = filepath.Join(dir, temporary)
		next    = filepath.Join(dir, staged)
		primary = filepath.Join(dir, strconv.Itoa(number))
	)
	if err := d.write(fresh, owner); err != nil {
		return err
	}
	if err := d.rename(next, primary); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := d.rename(fresh, next); err != nil {
		return errors.Join(err, os.Rename(primary, next), os.Remove(fresh))
	}
	return nil
}

// write puts a new key into a file of its own, on the disk for good.
func (d disk) write(path string, owner Owner) (err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // a rotation that was cut off left it
	}
	if err := d.step("write", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(path)
		}
	}()
	var key [keySize]byte
	_, err = rand.Read(key[:])
	if err == nil {
		_, err = f.WriteString(base64.URLEncoding.EncodeToString(key[:]))
	}
	if err == nil {
		err = owner.give(path)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.step("written", path)
	}
	return err
}

func (d disk) rename(from, to string) error {
	if err := d.step("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (d disk) remove(path string) error {
	if err := d.step("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (d disk) step(name, path string) error {
	if d.before == nil {
		return nil
	}
	return d.before(name, path)
}

// lock keeps a second rotation out: two at once would rename over each other's
// keys. A file system without locks does without.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s is being rotated by another process", dir)
	}
	return func() { f.Close() }, nil
}

// syncFolder makes the renames last through a power cut, where the file system
// can; the rotation stands either way.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
