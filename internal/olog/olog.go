// Package olog writes logs the way OpenStack's operators read them: oslo.log's
// line, or its JSON. It also names requests and hides secrets.
package olog

import (
	"context"
	"io"
	"log/slog"
	"net/netip"

	"github.com/keystone-go/keystone-go/internal/uuid"
)

// Request is what a log line says about the request it belongs to. The fields
// behind Addr are filled in once the caller is known; "" is unknown.
type Request struct {
	ID       string // req-<uuid>, our own
	GlobalID string // the caller's req-<uuid>
	Addr     netip.Addr
	Agent    string // User-Agent, for notifications

	User, UserDomain       string // ids
	Project, ProjectDomain string
	Domain                 string
	System                 string // "all"

	// Names are for formats that ask for them, JSON and the journal.
	UserName, UserDomainName       string
	ProjectName, ProjectDomainName string
	DomainName                     string
}

type requestKey struct{}

// WithRequest returns a context whose log lines belong to the request.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// FromContext gives the request of a context; an empty one where none is.
func FromContext(ctx context.Context) *Request {
	if r := requestOf(ctx); r != noRequest {
		return r
	}
	return &Request{}
}

var noRequest = &Request{} // read only

func requestOf(ctx context.Context) *Request {
	if ctx == nil {
		return noRequest
	}
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return noRequest
}

// NewRequestID makes an id of the form req-<uuid4>.
func NewRequestID() string { return "req-" + uuid.Text() }

// nameKey is the attribute that names a line's logger.
const nameKey = "logger"

// Name sets the logger's name that a line shows, such as keystone.access.
func Name(name string) slog.Attr { return slog.String(nameKey, name) }

// Secret is a string that no log, error or JSON shows.
type Secret string

const hidden = "***"

// String hides the secret from fmt.
func (Secret) String() string { return hidden }

// GoString hides the secret from fmt's %#v.
func (Secret) GoString() string { return hidden }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Options says how lines look.
type Options struct {
	JSON  bool // oslo.log's JSON, [DEFAULT] use_json
	Debug bool // [DEFAULT] debug: lines below INFO too
	PID   int  // the process id that lines carry
}

// New returns a handler that writes one record a call to w. Lines of
// concurrent requests do not mix.
func New(w io.Writer, o Options) slog.Handler {
	c := Config{UseJSON: o.JSON, Debug: o.Debug, PID: o.PID, Stderr: w}
	l, err := Open(c)
	if err != nil {
		panic("olog: " + err.Error()) // nothing in c can be wrong
	}
	return l.Handler()
}
