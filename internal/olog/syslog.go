package olog

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// facilities are syslog.h's, by the names that oslo.log takes.
var facilities = map[string]int{
	"KERN": 0, "USER": 1, "MAIL": 2, "DAEMON": 3, "AUTH": 4, "SYSLOG": 5, "LPR": 6, "NEWS": 7, "UUCP": 8, "CRON": 9,
	"AUTHPRIV": 10, "FTP": 11, "LOCAL0": 16, "LOCAL1": 17, "LOCAL2": 18, "LOCAL3": 19, "LOCAL4": 20, "LOCAL5": 21,
	"LOCAL6": 22, "LOCAL7": 23,
}

// facility reads LOG_LOCAL0, local0 and the like; "" is LOG_USER.
func facility(name string) (int, error) {
	if name == "" {
		return facilities["USER"], nil
	}
	n, ok := facilities[strings.TrimPrefix(strings.ToUpper(name), "LOG_")]
	if !ok {
		return 0, fmt.Errorf("there is no syslog facility %q", name)
	}
	return n, nil
}

// severity is a level in syslog's words.
func severity(r *record) int {
	switch n := levelNumber(r.level); {
	case n >= levelCritical:
		return 2
	case n >= levelError:
		return 3
	case n >= levelWarning:
		return 4
	case n >= levelInfo:
		return 6
	}
	return 7
}

// syslog is a sink that speaks to the local daemon (RFC 3164, as glibc writes
// it), or by UDP to one elsewhere.
type syslog struct {
	network, address string // "" and a path: a socket of either kind
	facility         int
	tag              string

	mu     sync.Mutex
	conn   net.Conn
	framed bool // a stream, where a NUL ends a line
}

const (
	syslogPath = "/dev/log"
	dialTime   = time.Second
	writeTime  = time.Second
	// cutTo is what is left of a line that no datagram holds.
	cutTo = 8 << 10
)

func (s *syslog) dial() error {
	networks := []string{s.network}
	if s.network == "" {
		networks = []string{"unixgram", "unix"}
	}
	var failed error
	for _, network := range networks {
		c, err := net.DialTimeout(network, s.address, dialTime)
		if err == nil {
			s.conn, s.framed = c, network == "unix"
			return nil
		}
		failed = err
	}
	return failed
}

// write tries a second time over a new connection: the daemon may have been
// started anew.
func (s *syslog) write(r *record, text []byte) error {
	b := strconv.AppendInt([]byte{'<'}, int64(s.facility<<3|severity(r)), 10)
	b = append(b, '>')
	b = r.time.AppendFormat(b, time.Stamp)
	b = append(b, ' ')
	b = append(b, s.tag...)
	b = append(b, ": "...)
	b = append(b, text...)
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.send(b)
	if errors.Is(err, syscall.EMSGSIZE) && len(b) > cutTo {
		return s.send(b[:cutTo])
	}
	if err != nil {
		s.drop()
		err = s.send(b)
	}
	return err
}

func (s *syslog) send(b []byte) error {
	if s.conn == nil {
		if err := s.dial(); err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
	}
	if s.framed {
		b = append(b, 0)
	}
	// A daemon that does not read must not hold up requests.
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := s.conn.Write(b)
	return err
}

func (s *syslog) drop() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

func (s *syslog) reopen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	return nil
}

func (s *syslog) close() error { return s.reopen() }
