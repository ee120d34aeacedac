package listen_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/listen"
)

// cutOff wants the peer to close the connection within a time.
func cutOff(t *testing.T, conn net.Conn, within time.Duration) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("not cut off within %v", within)
	}
}

// serve answers on a listener until the test ends.
func serve(t *testing.T, l net.Listener, h http.Handler, times listen.Times) {
	t.Helper()
	s := listen.NewServer(h, quiet, times)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Shutdown(context.WithoutCancel(t.Context())) })
}

func slowServer(t *testing.T, h http.HandlerFunc, times listen.Times) net.Conn {
	t.Helper()
	l := open(t, "127.0.0.1:0")
	serve(t, l, h, times)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// drip sends a text byte by byte until the peer has had enough.
func drip(conn net.Conn, text string, every time.Duration) error {
	for i := range len(text) {
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			return err
		}
		time.Sleep(every)
	}
	return nil
}

// TestSlowHead: a head that comes byte by byte is not waited for, however
// steadily it comes.
func TestSlowHead(t *testing.T) {
	conn := slowServer(t, func(http.ResponseWriter, *http.Request) {
		t.Error("the head never ended")
	}, listen.Times{Header: 300 * time.Millisecond})
	began := time.Now()
	go func() {
		_ = drip(conn, "GET / HTTP/1.1\r\nHost: k\r\nX: "+strings.Repeat("x", 1000), 20*time.Millisecond)
	}()
	cutOff(t, conn, 5*time.Second)
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("cut off after %v already", took)
	}
}

// TestSlowBody: the same for bodies.
func TestSlowBody(t *testing.T) {
	read := make(chan error, 1)
	conn := slowServer(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		read <- err
	}, listen.Times{Read: 300 * time.Millisecond})
	go func() {
		_ = drip(conn, "POST / HTTP/1.1\r\nHost: k\r\nContent-Length: 1000\r\n\r\n", 0)
		_ = drip(conn, strings.Repeat("x", 1000), 20*time.Millisecond)
	}()
	select {
	case err := <-read:
		if err == nil {
			t.Error("the body was read to its end")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the handler still reads")
	}
	cutOff(t, conn, 5*time.Second)
}

// TestSlowReader: who does not read the answer does not hold the handler.
func TestSlowReader(t *testing.T) {
	ended := make(chan error, 1)
	conn := slowServer(t, func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for range 1000 {
			if _, err = w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				break
			}
		}
		ended <- err
	}, listen.Times{Write: 300 * time.Millisecond})
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: k\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("64 MB went nowhere without an error")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the handler still writes")
	}
}

// TestIdleConnections: the usual times, without waiting for
// them.
func TestIdleConnections(t *testing.T) {
	conn := slowServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, listen.Times{Idle: 300 * time.Millisecond})
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: k\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	cutOff(t, conn, 5*time.Second)
	header, read, write, idle, protocols := listen.Limits(listen.NewServer(nil, quiet, listen.Times{}))
	if idle <= 60*time.Second || header != 10*time.Second || read != time.Minute || write <= read {
		t.Errorf("head %v, body %v, answer %v, idle %v", header, read, write, idle)
	}
	if protocols.UnencryptedHTTP2() || !protocols.HTTP1() || !protocols.HTTP2() {
		t.Errorf("protocols: %v", protocols)
	}
}
