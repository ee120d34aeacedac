package olog

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// stream is a sink on a writer that is always open: stderr, stdout.
type stream struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *stream) write(_ *record, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write(append(text, '\n'))
	return err
}

func (*stream) reopen() error { return nil }
func (*stream) close() error  { return nil }

// file is a sink that appends to a file, and finds it again after a rotation
// has moved it away.
type file struct {
	path   string
	every  bool   // look at the name before each line, not once a second
	rotate rotate // nil: somebody else does

	mu      sync.Mutex
	f       *os.File
	info    os.FileInfo
	size    int64
	looked  time.Time
	removed bool // Close was called
}

// rotate moves a full file away.
type rotate interface {
	// due reports whether a line of n bytes is to begin a new file.
	due(f *file, at time.Time, n int) bool
	// move gives the file another name.
	move(path string, at time.Time) error
}

const lookEvery = time.Second

func openFile(path string, every bool, r rotate) (*file, error) {
	f := &file{path: path, every: every, rotate: r}
	return f, f.open()
}

// open appends: a rotation that copies and truncates is survived.
func (f *file) open() error {
	opened, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	if f.f != nil {
		_ = f.f.Close()
	}
	f.f, f.info, f.size = opened, info, info.Size()
	return nil
}

func (f *file) write(r *record, text []byte) error {
	text = append(text, '\n')
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.removed {
		return os.ErrClosed
	}
	if err := f.follow(r.time); err != nil {
		return err
	}
	if f.rotate != nil && f.rotate.due(f, r.time, len(text)) {
		if err := f.rotate.move(f.path, r.time); err != nil {
			return err
		}
		if err := f.open(); err != nil {
			return err
		}
	}
	n, err := f.f.Write(text)
	f.size += int64(n)
	return err
}

// follow opens the file anew when its name means another one. A file that
// cannot be opened leaves the old one in use.
func (f *file) follow(at time.Time) error {
	if f.f != nil && !f.every && at.Sub(f.looked) < lookEvery && !at.Before(f.looked) {
		return nil
	}
	f.looked = at
	now, err := os.Stat(f.path)
	if f.f != nil && err == nil && os.SameFile(now, f.info) {
		f.size = now.Size()
		return nil
	}
	if err := f.open(); err != nil && f.f == nil {
		return err
	}
	return nil
}

func (f *file) reopen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open()
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = true
	return f.f.Close()
}
