package olog

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// The formats that oslo.log has when nothing else is configured.
const (
	defaultDate      = "%Y-%m-%d %H:%M:%S"
	defaultContext   = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [%(global_request_id)s %(request_id)s %(user_identity)s] %(instance)s%(message)s"
	defaultOutside   = "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(instance)s%(message)s"
	defaultSuffix    = "%(funcName)s %(pathname)s:%(lineno)d"
	defaultException = "%(asctime)s.%(msecs)03d %(process)d ERROR %(name)s %(instance)s"
	defaultIdentity  = "%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s"
)

// layout gives a record its form, without a newline at the end.
type layout interface {
	append(b []byte, r *record) []byte
}

// text is the layout of oslo.log's ContextFormatter: one format inside a
// request and one outside.
type text struct {
	colored         bool // %(color)s is one, and the line ends by its end
	pid             int
	host            string
	date            string
	inside, outside format
	suffix          format // added to DEBUG lines
	exception       format // before each line of a stack
	identity        format
}

// formats are the texts that a text is compiled from; "" is oslo.log's own.
type formats struct {
	date, inside, outside, suffix, exception, identity string
}

// standard fills in what oslo.log has where nothing is configured. The suffix
// may be empty on purpose.
func (f formats) standard() formats {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&f.date, defaultDate},
		{&f.inside, defaultContext},
		{&f.outside, defaultOutside},
		{&f.exception, defaultException},
		{&f.identity, defaultIdentity},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	return f
}

// newText compiles the formats. The notes name what in them is not known.
func newText(f formats, pid int, host string) (t *text, notes []string) {
	f = f.standard()
	t = &text{pid: pid, host: host, date: f.date}
	for _, c := range []struct {
		into   *format
		name   string
		source string
		keys   func(string) func(*text, *record) value
	}{
		{&t.inside, "logging_context_format_string", f.inside, keyOf},
		{&t.outside, "logging_default_format_string", f.outside, keyOf},
		{&t.suffix, "logging_debug_format_suffix", f.suffix, keyOf},
		{&t.exception, "logging_exception_prefix", f.exception, keyOf},
		{&t.identity, "logging_user_identity_format", f.identity, identityKey},
	} {
		compiled, unknown := parseFormat(c.source, c.keys)
		*c.into = compiled
		for _, key := range unknown {
			notes = append(notes, fmt.Sprintf("%s: %%(%s) is not known and is shown as -", c.name, key))
		}
	}
	return t, notes
}

func (t *text) append(b []byte, r *record) []byte {
	if r.req.ID != "" {
		b = t.inside.append(b, t, r)
	} else {
		b = t.outside.append(b, t, r)
	}
	if levelNumber(r.level) == levelDebug && len(t.suffix) > 0 {
		b = append(b, ' ')
		b = t.suffix.append(b, t, r)
	}
	if r.stack != "" {
		b = t.appendStack(b, r)
	}
	if t.colored {
		b = append(b, plainColor...)
	}
	return b
}

func (t *text) appendStack(b []byte, r *record) []byte {
	for line := range strings.Lines(r.stack) {
		b = append(b, '\n')
		b = t.exception.append(b, t, r)
		// The indent keeps a line of a stack from looking like a record.
		b = append(b, "    "...)
		b = appendPlain(b, strings.TrimSuffix(line, "\n"))
	}
	return b
}

// colors are those of oslo.log's ColorHandler, by Python's numbers of levels.
var colors = map[int]string{
	levelTrace: "\x1b[00;35m", levelDebug: "\x1b[00;32m", levelInfo: "\x1b[00;36m", levelWarning: "\x1b[01;33m",
	levelError: "\x1b[01;31m", levelCritical: "\x1b[01;31m",
}

const plainColor = "\x1b[00m"

// inColor is the layout for a terminal.
func (t *text) inColor() *text {
	colored := *t
	colored.colored = true
	return &colored
}

func (t *text) appendTime(b []byte, at time.Time) []byte {
	if t.date == defaultDate {
		return at.AppendFormat(b, time.DateTime)
	}
	return strftime(b, t.date, at)
}

// appendMessage appends the message and what was logged beside it.
func (r *record) appendMessage(b []byte) []byte {
	b = appendPlain(b, r.message)
	for _, a := range r.extra {
		b = append(b, ' ')
		b = append(b, a.Key...)
		b = append(b, '=')
		b = appendValue(b, a.Value)
	}
	return b
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
	if !strings.ContainsFunc(s, breaksLine) {
		return append(b, s...)
	}
	for _, r := range s {
		if breaksLine(r) {
			b = fmt.Appendf(b, `\x%02x`, r)
		} else {
			b = append(b, string(r)...)
		}
	}
	return b
}

// breaksLine names the characters that end a line or move a terminal.
func breaksLine(r rune) bool {
	return r != '\t' && r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029
}
