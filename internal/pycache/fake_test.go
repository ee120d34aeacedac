package pycache_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/proctest"
)

// memcached is a server that knows deletions alone, and SASL if it has a user.
type memcached struct {
	net.Listener
	user, password string
	answer         string        // to a deletion, by the text protocol
	hold           chan struct{} // deletions wait until it is closed, if set

	mu      sync.Mutex
	deleted []string // "" after each connection's end
	conns   []net.Conn
}

func newMemcached(t *testing.T, c *tls.Config) *memcached {
	t.Helper()
	m := &memcached{answer: "DELETED"}
	address, err := proctest.FreeAddress() // some tests come back to it
	if err != nil {
		t.Fatal(err)
	}
	m.listen(t, "tcp", address, c)
	return m
}

func (m *memcached) listen(t *testing.T, network, address string, c *tls.Config) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		l = tls.NewListener(l, c)
	}
	m.Listener = l
	t.Cleanup(m.down)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			m.mu.Lock()
			m.conns = append(m.conns, c)
			m.mu.Unlock()
			go m.serve(c)
		}
	}()
}

// down ends the server and its connections.
func (m *memcached) down() {
	_ = m.Close()
	m.hangUp()
}

func (m *memcached) hangUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		_ = c.Close()
	}
	m.conns = nil
}

func (m *memcached) address() string { return m.Addr().String() }

// gone gives the keys deleted so far and forgets them.
func (m *memcached) gone() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.deleted
	m.deleted = nil
	return out
}

func (m *memcached) delete(key string) {
	if m.hold != nil {
		<-m.hold
	}
	m.mu.Lock()
	m.deleted = append(m.deleted, key)
	m.mu.Unlock()
}

func (m *memcached) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	if first, err := r.Peek(1); err != nil || first[0] == 0x80 {
		m.binary(c, r)
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		key, ok := strings.CutPrefix(strings.TrimSpace(line), "delete ")
		if !ok {
			_, _ = io.WriteString(c, "ERROR\r\n")
			continue
		}
		m.delete(key)
		_, _ = io.WriteString(c, m.answer+"\r\n")
	}
}

// binary is the protocol of memcached's doc/protocol-binary.txt.
func (m *memcached) binary(c net.Conn, r *bufio.Reader) {
	known := m.user == ""
	for {
		head := make([]byte, 24)
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[8:]))
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		key := string(body[:binary.BigEndian.Uint16(head[2:])])
		value := string(body[len(key):])
		status, text := uint16(0), ""
		switch {
		case head[1] == 0x21 && key == "PLAIN" && value == "\x00"+m.user+"\x00"+m.password:
			known, text = true, "Authenticated"
		case head[1] == 0x21 || !known:
			status, text = 0x20, "Auth failure"
		case head[1] == 0x04:
			m.delete(key)
			status, text = 1, "Not found" // as good as deleted
		default:
			status, text = 0x81, "Unknown command"
		}
		answer := make([]byte, 24, 24+len(text))
		answer[0], answer[1] = 0x81, head[1]
		binary.BigEndian.PutUint16(answer[6:], status)
		binary.BigEndian.PutUint32(answer[8:], uint32(len(text)))
		if _, err := c.Write(append(answer, text...)); err != nil {
			return
		}
	}
}
