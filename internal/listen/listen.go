// Package listen opens the sockets that the servers answer on.
package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Limits of every server. Idle connections outlive the 60 seconds of the usual
// balancer, which otherwise sends a request into a closing connection.
const (
	headerTime  = 10 * time.Second
	readTime    = time.Minute // a whole request; bodies are small
	idleTime    = 75 * time.Second
	headerBytes = 64 << 10
)

// socketMode lets the web server's group connect to a unix socket.
const socketMode = 0o660

// Open opens a listener: ":5000", "127.0.0.1:5000", "[::1]:5000", or
// "unix:/run/keystone/api.sock". A unix socket that nobody listens on any more
// is replaced.
func Open(ctx context.Context, address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	var lc net.ListenConfig
	if !isUnix {
		l, err := lc.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
		return l, nil
	}
	if err := clearSocket(ctx, path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", address, err), l.Close())
	}
	return l, nil
}

// clearSocket removes a socket that an ended process left behind.
func clearSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("a file that is no socket is in the way")
	}
	var d net.Dialer
	if c, err := d.DialContext(ctx, "unix", path); err == nil {
		return errors.Join(errors.New("another process listens there"), c.Close())
	}
	return os.Remove(path)
}

// OpenAll opens every address, or none.
func OpenAll(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var out []net.Listener
	for _, a := range addresses {
		l, err := Open(ctx, a)
		if err != nil {
			for _, l := range out {
				err = errors.Join(err, l.Close())
			}
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// Server answers HTTP on listeners until it is shut down.
type Server struct {
	http *http.Server
}

// NewServer makes a server with limits on everything that a client may draw
// out. What net/http has to say goes to the log at DEBUG: it is about clients'
// broken connections.
func NewServer(h http.Handler, log *slog.Logger) *Server {
	return &Server{http: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// Serve answers on the listeners until Shutdown, and then returns nil; a
// listener that fails ends all of them.
func (s *Server) Serve(listeners ...net.Listener) error {
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- s.http.Serve(l) }()
	}
	var first error
	for range listeners {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) && first == nil {
			first = err
			_ = s.http.Close()
		}
	}
	return first
}

// Shutdown stops accepting and waits for the requests under way until ctx
// ends; then it cuts them off.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
