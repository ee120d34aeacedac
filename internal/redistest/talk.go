package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Do sends one command over a connection of its own. An error answer fails the
// test. Answers are string, int64, []any or nil.
func (s *Server) Do(words ...string) any {
	s.t.Helper()
	v, err := s.Try(words...)
	if err != nil {
		s.t.Fatalf("redistest: %s: %v", strings.Join(words, " "), err)
	}
	return v
}

// Try is Do for commands that may fail.
func (s *Server) Try(words ...string) (any, error) {
	c, err := net.DialTimeout("tcp", s.Addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return nil, err
	}
	return answer(bufio.NewReader(c))
}

// answer reads one value of the protocol's second version.
func answer(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, text := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '+':
		return text, nil
	case '-':
		return nil, errors.New(text)
	case ':':
		return strconv.ParseInt(text, 10, 64)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, err
	}
	if kind == '$' {
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return string(b[:n]), err
	}
	all := make([]any, n)
	for i := range all {
		if all[i], err = answer(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Monitor gives the server's feed of commands, those of scripts included, until
// the test ends. What comes after the call is in it.
func (s *Server) Monitor() <-chan string {
	s.t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr, 5*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	r := bufio.NewReader(c)
	if _, err := io.WriteString(c, "MONITOR\r\n"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
	feed := make(chan string, 10_000)
	s.t.Cleanup(func() { _ = c.Close() })
	go func() {
		defer close(feed)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			feed <- line
		}
	}()
	return feed
}
