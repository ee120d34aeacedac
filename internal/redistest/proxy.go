package redistest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands between clients and a server. It can be slow, and lose answers.
type Proxy struct {
	Addr string

	delay  atomic.Int64 // of answers, in nanoseconds
	lost   atomic.Bool
	cut    atomic.Bool
	trips  atomic.Int64
	listen net.Listener

	mu    sync.Mutex
	to    string
	conns []net.Conn
	all   sync.WaitGroup
}

// Between starts a proxy for the length of a test.
func Between(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), to: to, listen: l}
	p.all.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
		p.all.Wait()
	})
	return p
}

// Delay holds each answer back for so long.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Lose keeps answers from clients: requests arrive and are carried out.
func (p *Proxy) Lose(yes bool) { p.lost.Store(yes) }

// CutNext ends the connection on which the next answer comes, instead of passing
// it on.
func (p *Proxy) CutNext() { p.cut.Store(true) }

// To leads new connections to another server.
func (p *Proxy) To(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = addr
}

// Trips counts how often clients sent something: one a round trip, as long as
// what is sent fits one packet.
func (p *Proxy) Trips() int64 { return p.trips.Load() }

// Cut ends the connections that there are.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *Proxy) serve() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		to := p.to
		p.mu.Unlock()
		server, err := net.Dial("tcp", to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.all.Go(func() { p.pass(client, server, func() bool { p.trips.Add(1); return true }) })
		p.all.Go(func() {
			p.pass(server, client, func() bool {
				time.Sleep(time.Duration(p.delay.Load()))
				if p.cut.CompareAndSwap(true, false) {
					_, _ = client.Close(), server.Close()
				}
				return !p.lost.Load()
			})
		})
	}
}

// pass copies what each read gives, if may says so.
func (p *Proxy) pass(from, to net.Conn, may func() bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 && may() {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
