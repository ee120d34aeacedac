package olog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// bySize keeps files of a bounded size: log, log.1, log.2 … (Python's
// RotatingFileHandler). No number of files kept means no rotation.
type bySize struct {
	max  int64
	keep int
}

func (s bySize) due(f *file, _ time.Time, n int) bool {
	return s.max > 0 && s.keep > 0 && f.size > 0 && f.size+int64(n) > s.max
}

func (s bySize) move(path string, _ time.Time) error {
	name := func(i int) string { return fmt.Sprintf("%s.%d", path, i) }
	for i := s.keep - 1; i >= 1; i-- {
		if err := os.Rename(name(i), name(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, name(1))
}

// byTime begins a new file each interval: log.2026-01-31 and so on (Python's
// TimedRotatingFileHandler).
type byTime struct {
	every  time.Duration // or, where it is 0,
	days   int           // so many calendar days
	layout string        // of the suffix
	keep   int           // 0: all
	next   func(time.Time) time.Time

	end time.Time
}

// newByTime reads an interval: seconds, minutes, hours, days, midnight, or
// weekday, whose n is the day, 0 for Monday.
func newByTime(unit string, n, keep int) (*byTime, error) {
	b := &byTime{keep: keep, layout: time.DateOnly}
	day := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
	}
	switch strings.ToLower(unit) {
	case "seconds":
		b.every, b.layout = time.Second, "2006-01-02_15-04-05"
	case "minutes":
		b.every, b.layout = time.Minute, "2006-01-02_15-04"
	case "hours":
		b.every, b.layout = time.Hour, "2006-01-02_15"
	case "days":
		b.every = 24 * time.Hour
	case "midnight":
		b.next, b.days = day, 1
	case "weekday":
		if n < 0 || n > 6 {
			return nil, fmt.Errorf("there is no weekday %d: 0 is Monday, 6 Sunday", n)
		}
		b.days = 7
		b.next = func(t time.Time) time.Time {
			t = day(t)
			for int(t.Weekday()+6)%7 != (n+1)%7 { // the day has ended
				t = day(t)
			}
			return t
		}
	default:
		return nil, fmt.Errorf("there is no interval %q", unit)
	}
	if b.next == nil {
		b.every *= time.Duration(max(n, 1))
		b.next = func(t time.Time) time.Time { return t.Add(b.every) }
	}
	return b, nil
}

// due counts from the last change of a file that was there before, as Python
// does, so that restarts do not keep a file open for ever.
func (b *byTime) due(f *file, at time.Time, _ int) bool {
	if b.end.IsZero() {
		b.end = b.next(at)
		if f.size > 0 {
			b.end = b.next(f.info.ModTime())
		}
	}
	return !at.Before(b.end)
}

func (b *byTime) move(path string, at time.Time) error {
	name := path + "." + b.start().Format(b.layout)
	for b.end = b.next(b.end); !at.Before(b.end); {
		b.end = b.next(b.end)
	}
	if err := os.Rename(path, name); err != nil {
		return err
	}
	return b.prune(path)
}

// start is the time for which the file is named: when it was begun.
func (b *byTime) start() time.Time {
	return b.end.Add(-b.every).AddDate(0, 0, -b.days)
}

var timedSuffix = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(_\d{2}(-\d{2}(-\d{2})?)?)?$`)

// prune removes the oldest files beyond the number that is kept.
func (b *byTime) prune(path string) error {
	if b.keep <= 0 {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	var old []string
	for _, e := range entries {
		if suffix, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+"."); ok && timedSuffix.MatchString(suffix) {
			old = append(old, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	slices.Sort(old)
	for len(old) > b.keep {
		err = errors.Join(err, os.Remove(old[0]))
		old = old[1:]
	}
	return err
}
