package listen

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// headerBytes is more than any token and its headers need.
const headerBytes = 64 << 10

// Times are the limits of what a client may take; zero means the usual one.
type Times struct {
	Header time.Duration // from the first byte to the end of the head: 10 s
	Read   time.Duration // to the end of the body; bodies are small: 1 min
	Write  time.Duration // from the end of the head to that of the answer: 2 min
	// Idle is 75 s: connections outlive the 60 seconds of the usual balancer,
	// which otherwise sends a request into a closing connection.
	Idle time.Duration
}

// Server answers HTTP on listeners until it is shut down.
type Server struct {
	http *http.Server
}

// NewServer makes a server with limits on everything that a client may draw
// out. It speaks HTTP/1.1, and HTTP/2 where TLS agrees on it. What net/http has
// to say goes to the log at DEBUG: it is about clients' broken connections.
func NewServer(h http.Handler, log *slog.Logger, t Times) *Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &Server{http: &http.Server{
		Handler:           whole(h),
		ConnContext:       withConn,
		ReadHeaderTimeout: cmp.Or(t.Header, 10*time.Second),
		ReadTimeout:       cmp.Or(t.Read, time.Minute),
		WriteTimeout:      cmp.Or(t.Write, 2*time.Minute),
		IdleTimeout:       cmp.Or(t.Idle, 75*time.Second),
		MaxHeaderBytes:    headerBytes,
		Protocols:         &protocols,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// Serve answers on the listeners until Shutdown, and then returns nil; a
// listener that fails ends all of them.
func (s *Server) Serve(listeners ...net.Listener) error {
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- s.http.Serve(wholeListener{l}) }()
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
