package olog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Options says how lines look.
type Options struct {
	JSON  bool // oslo.log's JSON, [DEFAULT] use_json
	Debug bool // [DEFAULT] debug: lines below INFO too
	PID   int  // the process id that lines carry
	Name  string
}

// New returns a handler that writes one record a call to w. Lines of
// concurrent requests do not mix.
func New(w io.Writer, o Options) slog.Handler {
	if o.Name == "" {
		o.Name = "keystone"
	}
	return &handler{Options: o, out: &output{w: w}}
}

type output struct {
	mu sync.Mutex
	w  io.Writer
}

type handler struct {
	Options
	out   *output
	attrs []slog.Attr
	group string
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.Debug
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
	if a.Key != nameKey {
		a.Key = h.group + a.Key
	}
	return a
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	name := h.Name
	var extra []slog.Attr
	take := func(a slog.Attr) {
		a.Value = a.Value.Resolve()
		switch {
		case a.Key == nameKey:
			name = a.Value.String()
		case !a.Equal(slog.Attr{}):
			extra = append(extra, a)
		}
	}
	for _, a := range h.attrs {
		take(a)
	}
	r.Attrs(func(a slog.Attr) bool {
		take(h.named(a))
		return true
	})
	var line []byte
	if h.JSON {
		line = h.json(ctx, r, name, extra)
	} else {
		line = h.text(ctx, r, name, extra)
	}
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := h.out.w.Write(append(line, '\n'))
	return err
}

// level names a level as Python's logging does.
func level(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARNING"
	case l < slog.LevelError+4:
		return "ERROR"
	}
	return "CRITICAL"
}

// text is oslo.log's default line, logging_context_format_string inside a
// request and logging_default_format_string outside.
func (h *handler) text(ctx context.Context, r slog.Record, name string, extra []slog.Attr) []byte {
	b := r.Time.AppendFormat(nil, "2006-01-02 15:04:05.000")
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(h.PID), 10)
	b = append(b, ' ')
	b = append(b, level(r.Level)...)
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, " ["...)
	b = append(b, identity(ctx)...)
	b = append(b, "] "...)
	b = appendPlain(b, r.Message)
	stack := ""
	for _, a := range extra {
		if a.Key == stackKey {
			stack = a.Value.String()
			continue
		}
		b = append(b, ' ')
		b = append(b, a.Key...)
		b = append(b, '=')
		b = appendValue(b, a.Value)
	}
	for line := range strings.Lines(stack) {
		// The indent keeps a line of a stack from looking like a record.
		b = append(b, "\n    "...)
		b = appendPlain(b, strings.TrimSuffix(line, "\n"))
	}
	return b
}

// stackKey is the attribute that is written on lines of its own.
const stackKey = "stack"

// Stack attaches a stack trace to a record.
func Stack(trace []byte) slog.Attr { return slog.String(stackKey, string(trace)) }

// identity is what stands in the brackets.
func identity(ctx context.Context) string {
	q := FromContext(ctx)
	if q.ID == "" {
		return "-"
	}
	global := q.GlobalID
	if global == "" {
		global = "None"
	}
	fields := []string{global, q.ID}
	for _, f := range []string{q.User, q.Project, q.Domain, q.System, q.UserDomain, q.ProjectDomain} {
		fields = append(fields, dash(f))
	}
	return strings.Join(fields, " ")
}

// dash shows an id, whose characters may have come from an LDAP server, as one
// word.
func dash(id string) string {
	if id == "" {
		return "-"
	}
	if strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ']' }) {
		return strconv.Quote(strings.ReplaceAll(id, " ", "_"))
	}
	return id
}

func appendValue(b []byte, v slog.Value) []byte {
	s := v.String()
	if s == "" || strings.ContainsAny(s, " \t\"=") {
		return strconv.AppendQuote(b, s)
	}
	return appendPlain(b, s)
}

// appendPlain keeps a text on its line: what clients send must not be able to
// forge another record.
func appendPlain(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != 0x2028 && r != 0x2029:
			b = append(b, string(r)...)
		default:
			b = fmt.Appendf(b, `\x%02x`, r)
		}
	}
	return b
}

// json is the record in the keys of oslo.log's JSONFormatter.
func (h *handler) json(ctx context.Context, r slog.Record, name string, extra []slog.Attr) []byte {
	o := pyjson.Object{
		{Key: "message", Value: r.Message},
		{Key: "asctime", Value: r.Time.Format("2006-01-02 15:04:05")},
		{Key: "name", Value: name},
		{Key: "levelname", Value: level(r.Level)},
		{Key: "created", Value: float64(r.Time.UnixMicro()) / 1e6},
		{Key: "msecs", Value: r.Time.Nanosecond() / int(time.Millisecond)},
		{Key: "process", Value: h.PID},
	}
	if q := FromContext(ctx); q.ID != "" {
		for _, m := range []pyjson.Member{
			{Key: "request_id", Value: q.ID},
			{Key: "global_request_id", Value: q.GlobalID},
			{Key: "user_id", Value: q.User},
			{Key: "project_id", Value: q.Project},
			{Key: "domain_id", Value: q.Domain},
			{Key: "system_scope", Value: q.System},
			{Key: "user_domain_id", Value: q.UserDomain},
			{Key: "project_domain_id", Value: q.ProjectDomain},
		} {
			if m.Value == "" {
				m.Value = nil
			}
			o = append(o, m)
		}
	}
	var more pyjson.Object
	for _, a := range extra {
		if a.Key == stackKey {
			o = append(o, pyjson.Member{Key: "traceback", Value: a.Value.String()})
			continue
		}
		more = append(more, pyjson.Member{Key: a.Key, Value: jsonValue(a.Value)})
	}
	if more != nil {
		o = append(o, pyjson.Member{Key: "extra", Value: more})
	}
	return pyjson.Append(nil, o)
}

func jsonValue(v slog.Value) any {
	switch v.Kind() {
	case slog.KindBool:
		return v.Bool()
	case slog.KindInt64:
		return v.Int64()
	case slog.KindFloat64:
		return v.Float64()
	}
	return v.String()
}
