package pycache

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// pause is the time between two tries at a server that could not be reached.
const pause = time.Second

// server is one memcached. A goroutine of its own speaks to it; what there is
// to delete is owed until the server has confirmed it.
type server struct {
	address
	timeout time.Duration
	tls     *tls.Config
	login   string // of SASL: NUL, name, NUL, password
	log     *slog.Logger

	wake, stop chan struct{}
	conn       conn // of the goroutine alone

	mu           sync.Mutex
	owed         map[string]bool // keys to delete
	sent         int             // how many of them are being deleted
	next         *round          // who waits for them
	failing      bool            // the last try came to nothing
	kept, broken uint64
	byKey        map[string]Deletions
}

// failed counts what came to nothing. The lock is held.
func (s *server) failed(keys []string) {
	s.broken++
	for _, k := range keys {
		d := s.byKey[k]
		s.byKey[k] = Deletions{d.Done, d.Failed + 1}
	}
}

// confirmed counts what was done. The lock is held.
func (s *server) confirmed(keys []string) {
	s.kept++
	for _, k := range keys {
		d := s.byKey[k]
		s.byKey[k] = Deletions{d.Done + 1, d.Failed}
	}
}

// round is one deletion, of what was owed when it began.
type round struct{ done chan struct{} }

// conn is a connection to a memcached, by either of its protocols.
type conn interface {
	// delete deletes keys; one that is not there is no error.
	delete(keys []string) error
	SetDeadline(time.Time) error
	Close() error
}

func newServer(a address, c Config) *server {
	s := &server{
		address: a, timeout: c.Timeout, log: c.Log, wake: make(chan struct{}, 1), stop: make(chan struct{}), owed: map[string]bool{},
		byKey: map[string]Deletions{},
	}
	if c.TLS != nil && a.network == "tcp" {
		s.tls = c.TLS.Clone()
		if s.tls.ServerName == "" {
			s.tls.ServerName = a.host
		}
	}
	if c.Username != "" {
		s.login = "\x00" + c.Username + "\x00" + c.Password
	}
	return s
}

// owe adds keys and gives the round that will delete them; nil where the
// server is known to fail, which is waited for by nobody.
func (s *server) owe(keys []string) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		s.owed[k] = true
	}
	if s.failing {
		s.failed(keys)
		return nil
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.next
}

// run deletes what is owed until stop.
func (s *server) run() {
	defer s.hangUp()
	var again <-chan time.Time
	for {
		select {
		case <-s.wake:
		case <-again:
		case <-s.stop:
			return
		}
		again = nil
		if !s.settle() {
			again = time.After(pause)
		}
	}
}

// settle makes one round of what is owed and tells whether it was done.
func (s *server) settle() bool {
	s.mu.Lock()
	var keys []string
	for k := range s.owed {
		keys = append(keys, k)
	}
	round := s.next
	s.next = nil
	clear(s.owed)
	s.sent = len(keys)
	s.mu.Unlock()
	if len(keys) == 0 {
		return true
	}
	slices.Sort(keys)
	err := s.delete(keys)

	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.failing
	s.failing, s.sent = err != nil, 0
	if err != nil {
		s.failed(keys)
		for _, k := range keys {
			s.owed[k] = true
		}
	} else {
		s.confirmed(keys)
	}
	switch {
	case err != nil && !was:
		s.log.Warn("Python Keystone's cache cannot be told of changes; it is tried again every second", "memcached", s.String(), "error", err)
	case err == nil && was:
		s.log.Info("Python Keystone's cache has been told of changes again", "memcached", s.String())
	}
	if round != nil {
		close(round.done)
	}
	return err == nil
}

// delete deletes keys, on a new connection where the old one turns out to be
// closed, in one bounded time.
func (s *server) delete(keys []string) error {
	deadline := time.Now().Add(s.timeout)
	if s.conn != nil {
		if err := s.try(keys, deadline); err == nil {
			return nil
		}
	}
	if err := s.dial(deadline); err != nil {
		return err
	}
	return s.try(keys, deadline)
}

// try uses the connection there is, and gives it up when it fails.
func (s *server) try(keys []string, deadline time.Time) error {
	err := s.conn.SetDeadline(deadline)
	if err == nil {
		err = s.conn.delete(keys)
	}
	if err != nil {
		s.hangUp()
	}
	return err
}

func (s *server) hangUp() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

func (s *server) dial(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, s.network, s.dialed)
	if err != nil {
		return err
	}
	if err := c.SetDeadline(deadline); err != nil {
		_ = c.Close()
		return err
	}
	if s.tls != nil {
		secured := tls.Client(c, s.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return err
		}
		c = secured
	}
	if s.login == "" {
		s.conn = newTextConn(c)
		return nil
	}
	binary := newBinaryConn(c)
	if err := binary.login(s.login); err != nil {
		_ = c.Close()
		return err
	}
	s.conn = binary
	return nil
}

// address is where a server listens.
type address struct {
	network, dialed string
	host            string // for its certificate
}

func (a address) String() string { return a.dialed }

// Address gives what to dial for an item of [cache] memcache_servers.
func Address(text string) (network, address string, err error) {
	a, err := parseAddress(text)
	return a.network, a.dialed, err
}

// parseAddress reads the forms that Python's clients know: host, host:port,
// [v6]:port, inet:host:port, inet6:[v6]:port, unix:/path and /path.
func parseAddress(text string) (address, error) {
	s := strings.TrimSpace(text)
	if path, ok := strings.CutPrefix(s, "unix:"); ok || strings.HasPrefix(s, "/") {
		if path == "" {
			path = s
		}
		return address{network: "unix", dialed: path}, nil
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "inet6:"), "inet:")
	host, port := s, "11211"
	switch bare := strings.Trim(s, "[]"); {
	case net.ParseIP(bare) != nil:
		host = bare
	case strings.Contains(s, ":"):
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return address{}, fmt.Errorf("[cache] memcache_servers: %q is no address of a server", text)
		}
	}
	if host == "" || port == "" {
		return address{}, fmt.Errorf("[cache] memcache_servers: %q is no address of a server", text)
	}
	return address{network: "tcp", dialed: net.JoinHostPort(host, port), host: host}, nil
}
