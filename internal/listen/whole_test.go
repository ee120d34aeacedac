package listen_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/listen"
)

// counted counts the writes of the connections that a listener accepts.
type counted struct {
	net.Listener
	writes *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c.(*net.TCPConn), l.writes}, nil
}

type countedConn struct {
	*net.TCPConn
	writes *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.TCPConn.Write(p)
}

// countedServer gives the address of a server and counts what it writes.
func countedServer(t *testing.T, h http.HandlerFunc) (string, *atomic.Int64) {
	t.Helper()
	l := counted{open(t, "127.0.0.1:0"), new(atomic.Int64)}
	serve(t, l, h, listen.Times{})
	return "http://" + l.Addr().String(), l.writes
}

// patient is a client that an answer held back for good does not hang.
var patient = http.Client{Timeout: 10 * time.Second}

func text(n int) string { return strings.Repeat("0123456789abcdef", n/16+1)[:n] }

// long answers with as many bytes as n says, of a stated length.
func long(n *int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(*n))
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, text(*n))
	}
}

// answered asks once and wants n bytes of text.
func answered(t *testing.T, url string, n int) {
	t.Helper()
	resp, err := patient.Get(url)
	if err != nil {
		t.Fatal(n, err)
	}
	got, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if string(got) != text(n) || err != nil {
		t.Fatalf("%d bytes: %d bytes came, %v", n, len(got), err)
	}
}

// TestAnswerInOnePiece: an answer leaves in one write, whatever net/http's own
// buffer holds, and one connection carries one after another.
func TestAnswerInOnePiece(t *testing.T) {
	var n int
	url, writes := countedServer(t, long(&n))
	for range 2 {
		for _, c := range []struct{ length, writes int }{
			{0, 1}, {10, 1}, {3500, 1}, {4097, 1}, {4200, 1}, {8000, 1}, {8192, 1}, {20_000, 1}, {60_000, 1}, {1 << 20, 2}, {11, 1},
		} {
			n = c.length
			before := writes.Load()
			answered(t, url, n)
			if made := int(writes.Load() - before); made != c.writes {
				t.Errorf("%d bytes: %d writes, want %d", n, made, c.writes)
			}
		}
	}
}

// TestAnswerOfAnyLength: around the size of net/http's buffer, where the last
// piece may be the first, or a byte long.
func TestAnswerOfAnyLength(t *testing.T) {
	var n int
	url, _ := countedServer(t, long(&n))
	for n = 3900; n <= 4200; n++ {
		answered(t, url, n)
	}
}

// TestAnswerInParts: no length and no way to write makes an answer wait for
// good, or come otherwise than it was written.
func TestAnswerInParts(t *testing.T) {
	var step int
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { // small parts of a long body
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(http.StatusOK)
			for at := 0; at < 10000; at += 100 {
				_, _ = io.WriteString(w, text(10000)[at:at+100])
			}
		},
		func(w http.ResponseWriter) { // flushed between
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, text(10000)[:5000])
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, text(10000)[5000:])
		},
		func(w http.ResponseWriter) { // of no stated length
			for at := 0; at < 10000; at += 1000 {
				_, _ = io.WriteString(w, text(10000)[at:at+1000])
			}
		},
	}
	url, _ := countedServer(t, func(w http.ResponseWriter, _ *http.Request) { answers[step](w) })
	for step = range answers {
		answered(t, url, 10000)
	}
}

// TestAnswerWithoutBody: a length that no body follows holds nothing back.
func TestAnswerWithoutBody(t *testing.T) {
	url, _ := countedServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut": // less than was said
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, text(5000))
		case "/same":
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(http.StatusOK)
		}
	})
	head, err := patient.Head(url)
	if err != nil || head.ContentLength != 10000 {
		t.Fatal(head, err)
	}
	same, err := patient.Get(url + "/same")
	if err != nil || same.StatusCode != http.StatusNotModified {
		t.Fatal(same, err)
	}
	_ = same.Body.Close()
	cut, err := patient.Get(url + "/cut")
	if err == nil {
		if _, err = io.ReadAll(cut.Body); err == nil {
			t.Error("half an answer passed for a whole one")
		}
		_ = cut.Body.Close()
	}
	if again, err := patient.Head(url); err != nil || again.ContentLength != 10000 {
		t.Error(again, err)
	}
}
