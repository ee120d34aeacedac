package olog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Log is where the lines of the program go. It may be configured anew while it
// is in use.
type Log struct {
	pid       int
	emergency io.Writer // told of lines that could not be written

	mu       sync.RWMutex // held for reading while a line is written
	tree     *tree
	told     time.Time
	tellLock sync.Mutex
}

// Handler is the log as slog wants it. Its lines go where Reload says.
func (l *Log) Handler() slog.Handler { return &handler{log: l} }

// Notes name what in the configuration is not known here and changes nothing.
func (l *Log) Notes() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.tree.notes)
}

// Reopen opens the log files by their names again, for rotations that move
// them away.
func (l *Log) Reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tree.reopen()
}

// Close ends the log; what is logged afterwards is lost.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tree
	l.tree = &tree{}
	l.tree.settle()
	return t.close()
}

// replace makes a tree the present one and closes the one before.
func (l *Log) replace(t *tree) error {
	t.settle()
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.tree
	l.tree = t
	if before == nil {
		return nil
	}
	return before.close()
}

// handler is a Log with the attributes of a logger.
type handler struct {
	log   *Log
	attrs []slog.Attr
	group string
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool {
	h.log.mu.RLock()
	defer h.log.mu.RUnlock()
	return levelNumber(l) >= h.log.tree.least
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		next.attrs = append(next.attrs, h.named(a))
	}
	return &next
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.group = h.group + name + "."
	return &next
}

func (h *handler) named(a slog.Attr) slog.Attr {
	if a.Key != nameKey && a.Key != stackKey {
		a.Key = h.group + a.Key
	}
	return a
}

func (h *handler) Handle(ctx context.Context, in slog.Record) error {
	r := &record{time: in.Time, level: in.Level, message: hideTokens(in.Message), req: requestOf(ctx), source: sourceOf(in.PC)}
	r.logger = r.source.logger
	for _, a := range h.attrs {
		r.take(a)
	}
	in.Attrs(func(a slog.Attr) bool {
		r.take(h.named(a))
		return true
	})
	h.log.mu.RLock()
	defer h.log.mu.RUnlock()
	t := h.log.tree
	to := t.find(r.logger)
	if levelNumber(r.level) < to.level || t.throttle.drops(r, to) {
		return nil
	}
	return h.log.emit(r, to)
}

// take adds an attribute to the record.
func (r *record) take(a slog.Attr) {
	a.Value = a.Value.Resolve()
	switch {
	case a.Key == nameKey:
		r.logger = a.Value.String()
	case a.Key == stackKey:
		r.stack = hideTokens(a.Value.String())
	case !a.Equal(slog.Attr{}):
		if k := a.Value.Kind(); k == slog.KindString || k == slog.KindAny {
			a.Value = slog.StringValue(hideTokens(a.Value.String()))
		}
		r.extra = append(r.extra, a)
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// emit writes a record to the outputs, formatting it once for those that show
// it alike.
func (l *Log) emit(r *record, to *route) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var last layout
	var failed error
	for _, o := range to.outputs {
		if levelNumber(r.level) < o.level {
			continue
		}
		if o.layout != last {
			*buffer, last = o.layout.append((*buffer)[:0], r), o.layout
		}
		if err := o.sink.write(r, *buffer); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		l.tell(failed)
	}
	return failed
}

const tellEvery = time.Minute

// tell says on stderr that lines are lost, once a minute.
func (l *Log) tell(err error) {
	l.tellLock.Lock()
	defer l.tellLock.Unlock()
	if l.emergency != nil && time.Since(l.told) >= tellEvery {
		l.told = time.Now()
		fmt.Fprintf(l.emergency, "keystone-go: lines of the log are lost: %v\n", err)
	}
}

// stackKey is the attribute that is written on lines of its own.
const stackKey = "stack"

// Stack attaches a stack trace to a record.
func Stack(trace []byte) slog.Attr { return slog.String(stackKey, string(trace)) }
