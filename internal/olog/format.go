package olog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// format is a compiled format string of Python's logging, %(name)s and its
// kin.
type format []segment

// segment is a piece of text, or a value when key is set.
type segment struct {
	text  string
	key   string
	value func(*text, *record) value
	verb  string // Go's, "" for the value as it is
}

// value is what a key stands for: a text or a number.
type value struct {
	text   string
	number float64
	isNum  bool
}

func str(s string) value  { return value{text: s} }
func num(n float64) value { return value{number: n, isNum: true} }

// none shows an attribute of the request that is not known, as Python shows
// None.
func none(s string) value {
	if s == "" {
		return str("None")
	}
	return str(word(s))
}

// parseFormat compiles a format string. It tells the keys that nothing here
// stands for; they are shown as "-".
func parseFormat(s string, keys func(string) func(*text, *record) value) (f format, unknown []string) {
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			f = append(f, segment{text: lit.String()})
			lit.Reset()
		}
	}
	for s != "" {
		before, rest, found := strings.Cut(s, "%")
		lit.WriteString(before)
		if !found {
			break
		}
		name, verb, after, ok := directive(rest)
		if !ok {
			lit.WriteByte('%')
			s = strings.TrimPrefix(rest, "%") // %% is one, and one alone stays
			continue
		}
		flush()
		get := keys(name)
		if get == nil {
			unknown = append(unknown, name)
			get = func(*text, *record) value { return str("-") }
		}
		f, s = append(f, segment{key: name, value: get, verb: verb}), after
	}
	flush()
	return f, unknown
}

// directive reads (name)flags width .precision conversion.
func directive(s string) (name, verb, rest string, ok bool) {
	if !strings.HasPrefix(s, "(") {
		return "", "", s, false
	}
	name, s, ok = strings.Cut(s[1:], ")")
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.", r) })
	if !ok || end < 0 {
		return "", "", s, false
	}
	flags, conversion := s[:end], s[end]
	if flags != "" || conversion != 's' && conversion != 'd' {
		verb = "%" + flags + string(conversion)
	}
	return name, verb, s[end+1:], true
}

func (f format) append(b []byte, t *text, r *record) []byte {
	for i := range f {
		s := &f[i]
		switch {
		case s.key == "":
			b = append(b, s.text...)
		case s.verb == "" && s.key == "message":
			b = r.appendMessage(b)
		case s.verb == "" && s.key == "asctime":
			b = t.appendTime(b, r.time)
		default:
			b = s.value(t, r).append(b, s.verb)
		}
	}
	return b
}

func (v value) append(b []byte, verb string) []byte {
	if verb == "" {
		if v.isNum {
			return strconv.AppendFloat(b, v.number, 'f', -1, 64)
		}
		return append(b, v.text...)
	}
	switch verb[len(verb)-1] {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		if v.isNum {
			last := verb[len(verb)-1]
			if last == 'i' || last == 'u' {
				last = 'd'
			}
			return fmt.Appendf(b, verb[:len(verb)-1]+string(last), int64(v.number))
		}
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if v.isNum {
			return fmt.Appendf(b, verb, v.number)
		}
	case 'r':
		if !v.isNum && v.text != "None" {
			v.text = "'" + v.text + "'"
		}
	}
	s := v.text
	if v.isNum {
		s = strconv.FormatFloat(v.number, 'f', -1, 64)
	}
	// Zeros are for numbers.
	return fmt.Appendf(b, "%"+strings.TrimLeft(verb[1:len(verb)-1], "0+ #")+"s", s)
}

// started is what relativeCreated counts from.
var started = time.Now()

// keyOf gives what a key of a format string stands for; nil for an unknown one.
func keyOf(name string) func(*text, *record) value {
	if get := recordKeys[name]; get != nil {
		return get
	}
	if get := requestKeys[name]; get != nil {
		return func(_ *text, r *record) value {
			if r.req.ID == "" {
				return outside(name)
			}
			return none(get(r.req))
		}
	}
	return nil
}

// outside is what an attribute of a request shows in a line that belongs to
// none.
func outside(name string) value {
	switch name {
	case "project":
		return str(rootName)
	case "user_name", "project_name", "global_request_id":
		return str("")
	}
	return str("-")
}

// recordKeys are the attributes of a Python LogRecord, and those that oslo.log
// adds.
var recordKeys = map[string]func(*text, *record) value{
	"asctime":         func(t *text, r *record) value { return str(string(t.appendTime(nil, r.time))) },
	"isotime":         func(_ *text, r *record) value { return str(r.time.Format("2006-01-02T15:04:05.000000-07:00")) },
	"created":         func(_ *text, r *record) value { return num(float64(r.time.UnixMicro()) / 1e6) },
	"msecs":           func(_ *text, r *record) value { return num(float64(r.time.Nanosecond()/1000) / 1e3) },
	"relativeCreated": func(_ *text, r *record) value { return num(float64(r.time.Sub(started).Microseconds()) / 1e3) },
	"name":            func(_ *text, r *record) value { return str(r.logger) },
	"levelname":       func(_ *text, r *record) value { return str(level(r.level)) },
	"levelno":         func(_ *text, r *record) value { return num(float64(levelNumber(r.level))) },
	"message":         func(_ *text, r *record) value { return str(string(r.appendMessage(nil))) },
	"process":         func(t *text, _ *record) value { return num(float64(t.pid)) },
	"processName":     func(*text, *record) value { return str("MainProcess") },
	"thread":          func(*text, *record) value { return num(0) },
	"threadName":      func(*text, *record) value { return str("MainThread") },
	"taskName":        func(*text, *record) value { return str("None") },
	"pathname":        func(_ *text, r *record) value { return str(r.source.path) },
	"filename":        func(_ *text, r *record) value { return str(r.source.file) },
	"module":          func(_ *text, r *record) value { return str(r.source.module) },
	"funcName":        func(_ *text, r *record) value { return str(r.source.function) },
	"lineno":          func(_ *text, r *record) value { return num(float64(r.source.line)) },
	"version":         func(*text, *record) value { return str("unknown") },
	"hostname":        func(t *text, _ *record) value { return str(t.host) },
	"error_summary":   func(*text, *record) value { return str("-") },
	"user_identity": func(t *text, r *record) value {
		if r.req.ID == "" {
			return str("")
		}
		return str(string(t.identity.append(nil, t, r)))
	},
	"color": func(t *text, r *record) value {
		if !t.colored {
			return value{}
		}
		return str(colors[levelNumber(r.level)])
	},
	"reset_color": func(t *text, _ *record) value {
		if !t.colored {
			return value{}
		}
		return str(plainColor)
	},
	"instance": empty, "resource": empty,
}

func empty(*text, *record) value { return value{} }

// requestKeys are the attributes of an oslo.context that a server knows.
var requestKeys = map[string]func(*Request) string{
	"request_id":          func(q *Request) string { return q.ID },
	"global_request_id":   func(q *Request) string { return q.GlobalID },
	"user":                func(q *Request) string { return q.User },
	"user_id":             func(q *Request) string { return q.User },
	"user_name":           func(q *Request) string { return q.UserName },
	"project":             func(q *Request) string { return q.Project },
	"tenant":              func(q *Request) string { return q.Project },
	"project_id":          func(q *Request) string { return q.Project },
	"project_name":        func(q *Request) string { return q.ProjectName },
	"domain":              func(q *Request) string { return q.Domain },
	"domain_id":           func(q *Request) string { return q.Domain },
	"domain_name":         func(q *Request) string { return q.DomainName },
	"user_domain":         func(q *Request) string { return q.UserDomain },
	"user_domain_id":      func(q *Request) string { return q.UserDomain },
	"user_domain_name":    func(q *Request) string { return q.UserDomainName },
	"project_domain":      func(q *Request) string { return q.ProjectDomain },
	"project_domain_id":   func(q *Request) string { return q.ProjectDomain },
	"project_domain_name": func(q *Request) string { return q.ProjectDomainName },
	"system_scope":        func(q *Request) string { return q.System },
	"resource_uuid":       func(*Request) string { return "" },
	"auth_token":          func(*Request) string { return "" },
}

// identityKey is keyOf for logging_user_identity_format, which shows what is
// not known as "-".
func identityKey(name string) func(*text, *record) value {
	get := requestKeys[name]
	if get == nil {
		return func(*text, *record) value { return str("-") }
	}
	return func(_ *text, r *record) value {
		if s := get(r.req); s != "" {
			return str(word(s))
		}
		return str("-")
	}
}

// word shows an id, whose characters may have come from an LDAP server, as one
// word that ends no bracket.
func word(id string) string {
	odd := func(r rune) bool { return r <= ' ' || r == ']' || breaksLine(r) }
	if !strings.ContainsFunc(id, odd) {
		return id
	}
	return strconv.Quote(strings.Map(func(r rune) rune {
		if r == ' ' || r == ']' {
			return '_'
		}
		return r
	}, id))
}
