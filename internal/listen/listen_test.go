package listen_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/listen"
)

var quiet = slog.New(slog.DiscardHandler)

// own lets a group connect to unix sockets.
var own = listen.Unix{Mode: 0o660}

func open(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := listen.Open(t.Context(), address, own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func ask(t *testing.T, network, address string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}}
	defer client.CloseIdleConnections()
	r, err := client.Get("http://keystone/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServeOnAll(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "api.sock")
	listeners, err := listen.OpenAll(t.Context(), []string{"127.0.0.1:0", "unix:" + socket}, own)
	if err != nil {
		t.Fatal(err)
	}
	s := listen.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") }), quiet, listen.Times{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(listeners...) }()
	if got := ask(t, "tcp", listeners[0].Addr().String()); got != "hello" {
		t.Errorf("tcp: got %q", got)
	}
	if got := ask(t, "unix", socket); got != "hello" {
		t.Errorf("unix: got %q", got)
	}
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestUnixSocketsInTheWay(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "left.sock")
	l := open(t, "unix:"+left)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if _, err := listen.Open(t.Context(), "unix:"+left, own); err == nil || !strings.Contains(err.Error(), "another process listens there") {
		t.Errorf("in use: got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, "unix:"+left)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen.Open(t.Context(), "unix:"+file, own); err == nil {
		t.Error("took the place of a file")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the file: %q, %v", text, err)
	}
}

func TestOpenAllOpensAllOrNone(t *testing.T) {
	busy := open(t, "127.0.0.1:0").Addr().String()
	free := open(t, "127.0.0.1:0")
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := listen.OpenAll(t.Context(), []string{address, busy}, own); err == nil || !strings.Contains(err.Error(), busy) {
		t.Fatalf("got %v", err)
	}
	open(t, address) // was closed again
}

func TestShutdownWaitsForRequests(t *testing.T) {
	l := open(t, "127.0.0.1:0")
	entered, leave := make(chan struct{}), make(chan struct{})
	s := listen.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "done")
	}), quiet, listen.Times{})
	go func() { _ = s.Serve(l) }()
	answer := make(chan string, 1)
	go func() { answer <- ask(t, "tcp", l.Addr().String()) }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	select {
	case err := <-stopped:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	if got := <-answer; got != "done" {
		t.Errorf("got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestShutdownCutsOffAfterItsTime(t *testing.T) {
	l := open(t, "127.0.0.1:0")
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	s := listen.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}), quiet, listen.Times{})
	go func() { _ = s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: k\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection still stands")
	}
}

func TestHeadersAreBounded(t *testing.T) {
	l := open(t, "127.0.0.1:0")
	s := listen.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), quiet, listen.Times{})
	go func() { _ = s.Serve(l) }()
	defer func() { _ = s.Shutdown(context.WithoutCancel(t.Context())) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: k\r\nX: "+strings.Repeat("x", 200<<10)+"\r\n\r\n")
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, " 431 ") {
		t.Errorf("got %q, %v", line, err)
	}
}
