package fernet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// staged is the name of the key that becomes the primary at the next rotation.
const staged = "0"

// dataLink is what Kubernetes turns to change all files of a volume at once.
const dataLink = "..data"

// longestFile is more than any key file holds.
const longestFile = 1 << 10

var errNoKey = errors.New("the folder holds no key")

// keyset is what one reading of a folder gave.
type keyset struct {
	ring    keyring
	primary int
	rotated time.Time
	empty   []string // files without a key in them
	seen    string
}

// equal reports whether the keys and their order are the same.
func (s *keyset) equal(other *keyset) bool {
	return s.primary == other.primary && s.rotated.Equal(other.rotated) &&
		slices.EqualFunc(s.ring, other.ring, func(a, b *Key) bool { return a.hash == b.hash })
}

// keyFile is a file whose name is a number.
type keyFile struct {
	number int
	path   string
	made   time.Time
	text   string
}

// load reads the folder until it stood still meanwhile, so that a rotation in
// the midst of it hides no key.
func load(dir string) (*keyset, error) {
	var keys *keyset
	for range 5 {
		before, err := fingerprint(dir)
		if err != nil {
			return nil, err
		}
		var failed error
		if keys, failed = read(dir); failed == nil {
			keys.seen = before
		}
		if after, err := fingerprint(dir); err == nil && after == before {
			return keys, failed
		}
	}
	if keys == nil {
		return nil, fmt.Errorf("%s changes while it is read", dir)
	}
	return keys, nil // the next look sees the change and reads anew
}

// read parses every key of the folder. One that is no key spoils all of it:
// half-written, it may be the primary.
func read(dir string) (*keyset, error) {
	files, err := keyFiles(dir)
	if err != nil {
		return nil, err
	}
	s := &keyset{}
	for _, f := range files {
		if f.blank() {
			s.empty = append(s.empty, filepath.Base(f.path))
			continue
		}
		k, err := ParseKey(f.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		if len(s.ring) == 0 {
			s.primary = f.number
		}
		if f.made.After(s.rotated) {
			s.rotated = f.made
		}
		s.ring = append(s.ring, k)
	}
	if len(s.ring) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoKey)
	}
	return s, nil
}

// blank reports whether there is no key in the file.
func (f keyFile) blank() bool { return strings.TrimSpace(f.text) == "" }

// keyFiles returns the files whose names are numbers, the highest first: the
// order in which Keystone tries keys.
func keyFiles(dir string) ([]keyFile, error) {
	names, err := numbered(dir)
	if err != nil {
		return nil, err
	}
	var files []keyFile
	for number, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		text, err := readFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, keyFile{number: number, path: path, made: info.ModTime(), text: text})
	}
	slices.SortFunc(files, func(a, b keyFile) int { return b.number - a.number })
	return files, nil
}

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestFile))
	return string(text), err
}

// numbered returns the names in the folder that are numbers.
func numbered(dir string) (map[int]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make(map[int]string, len(entries))
	for _, e := range entries {
		if number, err := strconv.Atoi(e.Name()); err == nil && number >= 0 {
			names[number] = e.Name()
		}
	}
	return names, nil
}

// fingerprint sums up what a change of the keys changes: the folder itself,
// its numbered files behind their links, and where Kubernetes' link points.
func fingerprint(dir string) (string, error) {
	names, err := numbered(dir)
	if err != nil {
		return "", err
	}
	print, err := stamp(nil, dir)
	if err != nil {
		return "", err
	}
	for _, name := range sorted(names) {
		print = append(print, name...)
		if print, err = stamp(print, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, dataLink)); err == nil {
		print = append(print, target...)
	}
	return string(print), nil
}

func sorted(names map[int]string) []string {
	var s []string
	for _, name := range names {
		s = append(s, name)
	}
	slices.Sort(s)
	return s
}

// stamp appends what stat tells of a file's identity and age.
func stamp(dst []byte, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return dst, err
	}
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Appendf(dst, ":%d:%d:%d:%v\n", inode, info.ModTime().UnixNano(), info.Size(), info.Mode()), nil
}
