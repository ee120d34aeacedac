package v3

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Texts that clients see for whole classes of errors (keystone/exception.py),
// and one of our own for an overload, which Python Keystone never admits.
const (
	internalText    = "An unexpected error prevented the server from fulfilling your request."
	unavailableText = "The service is busy. Try again later."
	debugSuffix     = " (Disable insecure_debug mode to suppress these details.)"
)

// titles are Python's reason phrases where Go's differ.
var titles = map[int]string{http.StatusRequestEntityTooLarge: "Request Entity Too Large"}

func title(status int) string {
	if t, ok := titles[status]; ok {
		return t
	}
	return http.StatusText(status)
}

// refuse answers an error and logs it, once and here alone.
func (a *API) refuse(e echo.Context, err error) {
	v := e.Get(visitKey).(*visit)
	if hungUp(e.Request(), err) {
		v.gone = true
		return
	}
	f := asFault(err)
	a.logRefusal(e, f, err)
	a.write(e, nil, a.answer(f, v.base))
}

// asFault turns any error into the one that a client sees.
func asFault(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if busy, ok := errors.AsType[*passhash.Busy](err); ok {
		return busyFault(err, busy.RetryAfter)
	}
	if after, ok := errors.AsType[retryAfter](err); ok {
		return busyFault(err, time.Duration(after.RetryAfterSeconds())*time.Second)
	}
	if errors.Is(err, db.ErrUnavailable) || errors.Is(err, db.ErrSerialize) {
		return busyFault(err, time.Second)
	}
	if errors.Is(err, db.ErrBadValue) {
		return fault.New(fault.BadRequest, "The request holds a value that cannot be stored.")
	}
	return &fault.Error{
		Kind: fault.Internal, Message: internalText,
		Detail: fmt.Sprintf("An unexpected error prevented the server from fulfilling your request: %v.", err),
	}
}

// retryAfter is an error that says when to come again.
type retryAfter interface {
	error
	RetryAfterSeconds() int
}

func busyFault(err error, after time.Duration) *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Message: unavailableText, Detail: err.Error(), RetryAfter: max(after, time.Second)}
}

// answer writes a fault in Keystone's form.
func (a *API) answer(f *fault.Error, base string) Reply {
	status := int(f.Kind)
	r := Reply{Status: status, Header: http.Header{}}
	for k, v := range f.Header {
		r.Header.Set(k, v)
	}
	if f.Kind == fault.TooMany {
		r.Header.Set("Cache-Control", "no-store")
	}
	if f.RetryAfter > 0 || f.Kind == fault.TooMany || f.Kind == fault.Unavailable {
		r.Header.Set("Retry-After", strconv.Itoa(ratelimit.RetryAfter(f.RetryAfter)))
	}
	if f.Kind == fault.Unauthorized && !f.Plain401 {
		r.Header.Set("WWW-Authenticate", `Keystone uri="`+base+`/v3"`)
	}
	if f.Body != nil {
		r.Body, r.Bare = f.Body, true
		return r
	}
	message := f.Message
	if a.cfg.InsecureDebug && f.Detail != "" && hides(f.Kind) {
		message = f.Detail + debugSuffix
	}
	content := pyjson.Object{{Key: "code", Value: status}, {Key: "message", Value: message}, {Key: "title", Value: title(status)}}
	if f.Identity != nil {
		content = append(content, pyjson.Member{Key: "identity", Value: f.Identity})
	}
	r.Body = pyjson.AppendCompact(nil, pyjson.Object{{Key: "error", Value: content}})
	r.Body = append(r.Body.([]byte), '\n')
	return r
}

// hides names the kinds whose details Python Keystone keeps from clients
// (SecurityError in keystone/exception.py).
func hides(k fault.Kind) bool {
	return k == fault.Unauthorized || k == fault.Forbidden || k == fault.Internal
}

// internalAnswer is the 500 of a panic, the same with and without
// insecure_debug.
func internalAnswer() Reply {
	return (&API{}).answer(&fault.Error{Kind: fault.Internal, Message: internalText}, "")
}

// logRefusal logs an error for the operator. A 429 has its access line only:
// a flood must not write two lines a request.
func (a *API) logRefusal(e echo.Context, f *fault.Error, err error) {
	ctx, level, text := e.Request().Context(), slog.LevelInfo, err.Error()
	switch f.Kind {
	case fault.TooMany:
		return
	case fault.NotFound:
		level = slog.LevelDebug
	case fault.Unauthorized:
		// Python Keystone's words: programs that ban addresses look for them.
		level, text = slog.LevelWarn, fmt.Sprintf("Authorization failed. %s from %s", text, shownAddress(olog.FromContext(ctx).Addr))
	case fault.Unavailable:
		level = slog.LevelWarn
	case fault.Internal:
		level = slog.LevelError
	}
	a.cfg.Log.Log(ctx, level, text, slog.Int("status", int(f.Kind)))
}
