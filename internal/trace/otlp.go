package trace

import (
	"encoding/binary"
	"os"
)

// The messages of opentelemetry/proto/trace/v1, by hand: there are seven, and
// their numbers do not change.

const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func tag(b []byte, field, wire int) []byte { return binary.AppendUvarint(b, uint64(field<<3|wire)) }

func appendBytes(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(tag(b, field, wireBytes), uint64(len(v)))
	return append(b, v...)
}

func appendText(b []byte, field int, v string) []byte {
	if v == "" {
		return b
	}
	b = binary.AppendUvarint(tag(b, field, wireBytes), uint64(len(v)))
	return append(b, v...)
}

func appendNumber(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(tag(b, field, wireVarint), v)
}

func appendFixed64(b []byte, field int, v int64) []byte {
	return binary.LittleEndian.AppendUint64(tag(b, field, wireFixed64), uint64(v))
}

// appendAttr appends a KeyValue.
func appendAttr(b []byte, field int, a Attr) []byte {
	var v []byte
	switch x := a.Value.(type) {
	case string:
		v = binary.AppendUvarint(tag(v, 1, wireBytes), uint64(len(x)))
		v = append(v, x...)
	case bool:
		n := uint64(0)
		if x {
			n = 1
		}
		v = appendNumber(v, 2, n)
	case int64:
		v = appendNumber(v, 3, uint64(x))
	}
	return appendBytes(b, field, appendBytes(appendText(nil, 1, a.Key), 2, v))
}

// Flags of a span: whether its context says that its parent is elsewhere.
const (
	flagSampled  = 1
	flagKnown    = 1 << 8
	flagIsRemote = 1 << 9
)

func appendSpan(b []byte, s *Span) []byte {
	m := appendBytes(nil, 1, s.trace[:])
	m = appendBytes(m, 2, s.id[:])
	m = appendText(m, 3, s.state)
	flags := uint32(flagSampled | flagKnown)
	if s.parent != [8]byte{} {
		m = appendBytes(m, 4, s.parent[:])
		if s.kind == Server {
			flags |= flagIsRemote
		}
	}
	m = appendText(m, 5, s.name)
	m = appendNumber(m, 6, uint64(s.kind))
	m = appendFixed64(m, 7, s.start.UnixNano())
	m = appendFixed64(m, 8, s.end.UnixNano())
	for _, a := range s.attrs {
		m = appendAttr(m, 9, a)
	}
	if s.failed != "" {
		m = appendBytes(m, 15, appendNumber(appendText(nil, 2, s.failed), 3, 2))
	}
	m = binary.LittleEndian.AppendUint32(tag(m, 16, wireFixed32), flags)
	return appendBytes(b, 2, m)
}

// makeResource says who sends.
func (t *Tracer) makeResource() []byte {
	var b []byte
	for _, a := range t.config.resource {
		b = appendAttr(b, 1, a)
	}
	b = appendAttr(b, 1, String("service.name", t.config.Service))
	b = appendAttr(b, 1, String("service.version", t.config.Version))
	if host, err := os.Hostname(); err == nil {
		b = appendAttr(b, 1, String("host.name", host))
	}
	return appendAttr(b, 1, Int("process.pid", os.Getpid()))
}

// encode makes an ExportTraceServiceRequest.
func (t *Tracer) encode(spans []*Span) []byte {
	scope := appendText(appendText(nil, 1, "keystone-go"), 2, t.config.Version)
	scoped := appendBytes(nil, 1, scope)
	for _, s := range spans {
		scoped = appendSpan(scoped, s)
	}
	return appendBytes(nil, 1, appendBytes(appendBytes(nil, 1, t.resource), 2, scoped))
}
