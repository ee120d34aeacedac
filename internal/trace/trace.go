// Package trace records what requests did and sends it to an OpenTelemetry
// collector: OTLP over HTTP, in protobuf. It is the part of OpenTelemetry that
// a server of requests needs; docs/adr/0007-traces.md says why it is not the
// SDK.
package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Kind says which side of a call a span is.
type Kind int

// The kinds, with their numbers in OTLP.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// Attr is an attribute: Value is a string, an int64 or a bool.
type Attr struct {
	Key   string
	Value any
}

// String, Int and Bool make attributes.
func String(key, value string) Attr    { return Attr{key, value} }
func Int(key string, value int) Attr   { return Attr{key, int64(value)} }
func Bool(key string, value bool) Attr { return Attr{key, value} }

// Span is one thing that took time. A nil Span records nothing.
type Span struct {
	trace  [16]byte
	id     [8]byte
	parent [8]byte // zero: none
	state  string  // tracestate of the caller
	kind   Kind
	name   string
	start  time.Time
	end    time.Time
	attrs  []Attr
	failed string // what failed; "" for nothing

	tracer *Tracer

	mu       sync.Mutex
	children []*Span
	over     bool
}

type spanKey struct{}

// spanOf gives the span of a context, or nil.
func spanOf(ctx context.Context) *Span {
	if ctx == nil {
		return nil
	}
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// Serve begins the span of a request, whose caller may have begun the trace
// (W3C's traceparent). It is nil, and the context as it was, where the request
// is not sampled.
func (t *Tracer) Serve(ctx context.Context, h http.Header, start time.Time) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	s := &Span{kind: Server, start: start, tracer: t}
	sampled, known := s.follow(h)
	if !known {
		s.trace = newTraceID()
	}
	if !t.sample(s.trace, known, sampled) {
		return ctx, nil
	}
	s.id = newSpanID()
	return context.WithValue(ctx, spanKey{}, s), s
}

// follow takes trace and parent from the caller.
func (s *Span) follow(h http.Header) (sampled, known bool) {
	parts := strings.Split(h.Get("Traceparent"), "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return false, false
	}
	var version, flags [1]byte
	if !decode(version[:], parts[0]) || !decode(s.trace[:], parts[1]) || !decode(s.parent[:], parts[2]) || !decode(flags[:], parts[3]) ||
		s.trace == [16]byte{} || s.parent == [8]byte{} {
		s.trace, s.parent = [16]byte{}, [8]byte{}
		return false, false
	}
	s.state = strings.Join(h.Values("Tracestate"), ",")
	return flags[0]&1 == 1, true
}

func decode(into []byte, text string) bool {
	if len(text) != 2*len(into) || strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(into, []byte(text))
	return err == nil
}

// End names the span, says how it went and hands it over with what happened in
// it.
func (s *Span) End(name, failed string, at time.Time, attrs ...Attr) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.over = true
	s.name, s.failed, s.end, s.attrs = name, failed, at, attrs
	s.mu.Unlock()
	s.tracer.take(s)
}

// Record notes something that has happened within the span of a context, and
// nothing where that has none.
func Record(ctx context.Context, kind Kind, name, failed string, start, end time.Time, attrs ...Attr) {
	parent := spanOf(ctx)
	if parent == nil {
		return
	}
	child := &Span{
		trace: parent.trace, id: newSpanID(), parent: parent.id, state: parent.state,
		kind: kind, name: name, failed: failed, start: start, end: end, attrs: attrs,
	}
	parent.mu.Lock()
	defer parent.mu.Unlock()
	if !parent.over && len(parent.children) < mostChildren {
		parent.children = append(parent.children, child)
	}
}

// mostChildren bounds what one request may hold.
const mostChildren = 128

// On reports whether what happens in a context is recorded.
func On(ctx context.Context) bool { return spanOf(ctx) != nil }

func newTraceID() (id [16]byte) {
	for id == [16]byte{} {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64())
		binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id
}

func newSpanID() (id [8]byte) {
	for id == [8]byte{} {
		binary.BigEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
