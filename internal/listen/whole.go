package listen

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// net/http sends an answer in pieces of 4 kB. A token's answer is longer, since
// it carries the catalog: it would cost two system calls, and wake its client
// twice. Here the first piece waits for the rest, and both leave together. It
// waits through a flush too, which no handler of an answer with a length makes.

// wholeListener gives out connections that can wait; not those of TLS, which
// net/http knows by their type.
type wholeListener struct{ net.Listener }

func (l wholeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if _, ok := c.(*tls.Conn); ok {
		return c, nil
	}
	return &wholeConn{Conn: c}, nil
}

// wholeConn is written to by one goroutine at a time, as net/http does.
type wholeConn struct {
	net.Conn
	length int     // of the body that begins with the next write
	first  *[]byte // a piece that waits
}

var pieces = sync.Pool{New: func() any { return new([]byte) }}

// Write lets a piece wait that cannot be the last one, since it is shorter than
// the body alone.
func (c *wholeConn) Write(p []byte) (int, error) {
	length := c.length
	c.length = 0
	if c.first != nil {
		return c.join(p)
	}
	if len(p) >= length {
		return c.Conn.Write(p)
	}
	c.first = pieces.Get().(*[]byte)
	*c.first = append((*c.first)[:0], p...)
	return len(p), nil
}

// longest is what is copied for it; a longer rest is sent after it.
const longest = 64 << 10

func (c *wholeConn) join(p []byte) (int, error) {
	first := c.first
	c.first = nil
	defer pieces.Put(first)
	held := len(*first)
	if len(p) > longest {
		if _, err := c.Conn.Write(*first); err != nil {
			return 0, err
		}
		return c.Conn.Write(p)
	}
	*first = append(*first, p...)
	n, err := c.Conn.Write(*first)
	return max(n-held, 0), err
}

// CloseWrite is the connection's own, where it has one: net/http ends so an
// answer before which it did not read the whole body.
func (c *wholeConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type wholeKey struct{}

// whole tells a connection how long the answer will be that a handler begins.
func whole(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(wholeKey{}).(*wholeConn); ok && r.Method != http.MethodHead {
			w = &wholeWriter{w, c}
		}
		h.ServeHTTP(w, r)
	})
}

func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*wholeConn); ok {
		return context.WithValue(ctx, wholeKey{}, c)
	}
	return ctx
}

type wholeWriter struct {
	http.ResponseWriter
	conn *wholeConn
}

// WriteHeader trusts the length that net/http holds the handler to.
func (w *wholeWriter) WriteHeader(status int) {
	if status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified {
		w.conn.length, _ = strconv.Atoi(w.Header().Get("Content-Length"))
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *wholeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
