// Package follow keeps what was read from files current while it is used: a
// change on the disk is seen within a second, without a signal, and what
// cannot be read leaves the last good value in use.
package follow

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// interval is how long what was seen of the files is believed.
	interval = time.Second
	// freshLooks is how many looks out of turn there may be in one interval.
	freshLooks = 10
	// tries is how often files that change while they are read are read again.
	tries = 5
)

// Source says what is read, and from where.
type Source[T any] struct {
	// Print sums up the files: a text that changes when they do.
	Print func() (string, error)
	// Load reads the value; last is the one in use, the zero value at first.
	Load func(last T) (T, error)
	// Failed is told of a look that failed while there was a value, once for
	// each different error. It may be nil.
	Failed func(error)
	// Changed is told of a value that came after the first. It may be nil.
	Changed func(T)
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Value is what a Source gives; its methods may be called at once.
type Value[T any] struct {
	src   Source[T]
	start time.Time
	value atomic.Pointer[T]
	next  atomic.Int64  // when to look again, as time since start
	looks atomic.Uint64 // looks begun

	mu     sync.Mutex // held during a look
	seen   string     // the print of what value was read from
	err    error      // why the last look failed
	recent [freshLooks]time.Duration
	oldest int // index into recent
}

// Open reads the value and fails when it cannot be read.
func Open[T any](s Source[T]) (*Value[T], error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	v := &Value[T]{src: s, start: s.Now()}
	for i := range v.recent {
		v.recent[i] = -interval
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next.Store(int64(interval))
	v.look(true)
	if v.err != nil {
		return nil, v.err
	}
	return v, nil
}

// Get gives the value, after a look at the files if the last one is a second
// old. One caller looks; the others go on with what there is.
func (v *Value[T]) Get() T {
	now := int64(v.src.Now().Sub(v.start))
	next := v.next.Load()
	early := now < next && next-now <= int64(interval) // else the clock was set back
	if !early && v.next.CompareAndSwap(next, now+int64(interval)) {
		v.mu.Lock()
		v.look(false)
		v.mu.Unlock()
	}
	return *v.value.Load()
}

// Fresh gives the value as it is on the disk at the time of the call, unless
// there were ten such looks in the last second.
func (v *Value[T]) Fresh() T {
	counted := v.looks.Load()
	v.mu.Lock()
	defer v.mu.Unlock()
	// A look that began after the caller came serves as well as a new one.
	if v.looks.Load() == counted && v.allowed() {
		v.look(true)
	}
	return *v.value.Load()
}

// Err is why the last look failed, nil when it did not.
func (v *Value[T]) Err() error {
	v.Get()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// allowed spends one of the looks out of turn.
func (v *Value[T]) allowed() bool {
	now := v.src.Now().Sub(v.start)
	if past := now - v.recent[v.oldest]; past >= 0 && past < interval {
		return false
	}
	v.recent[v.oldest] = now
	v.oldest = (v.oldest + 1) % freshLooks
	return true
}

// look reads the value anew if the files show a change, or if it is told to.
func (v *Value[T]) look(always bool) {
	v.looks.Add(1)
	last := v.value.Load()
	before, err := v.src.Print()
	for range tries {
		if err != nil {
			break
		}
		if !always && v.err == nil && before == v.seen {
			return
		}
		var value T
		if last != nil {
			value = *last
		}
		var after string
		if value, err = v.src.Load(value); err == nil {
			if after, err = v.src.Print(); err == nil && after == before {
				v.take(value, after)
				return
			}
		}
		before, always = after, true
	}
	if err == nil {
		err = fmt.Errorf("the files change while they are read")
	}
	v.fail(err)
}

func (v *Value[T]) take(value T, print string) {
	again := v.value.Swap(&value) != nil
	v.err, v.seen = nil, print
	if again && v.src.Changed != nil {
		v.src.Changed(value)
	}
}

func (v *Value[T]) fail(err error) {
	if v.value.Load() != nil && v.src.Failed != nil && (v.err == nil || v.err.Error() != err.Error()) {
		v.src.Failed(err)
	}
	v.err = err
}

// Stamp appends what stat tells of a file's identity and age, behind links; a
// file that is not there has a stamp too.
func Stamp(dst []byte, path string) []byte {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Appendf(dst, "%s:-\n", path)
	}
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Appendf(dst, "%s:%d:%d:%d:%v\n", path, inode, info.ModTime().UnixNano(), info.Size(), info.Mode())
}
