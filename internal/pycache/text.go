package pycache

import (
	"bufio"
	"fmt"
	"net"
	"strings"
)

// textConn speaks memcached's text protocol.
type textConn struct {
	net.Conn
	r *bufio.Reader
}

func newTextConn(c net.Conn) *textConn { return &textConn{Conn: c, r: bufio.NewReader(c)} }

// delete sends all deletions at once and reads a line for each.
func (c *textConn) delete(keys []string) error {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString("delete " + k + "\r\n")
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		return err
	}
	for range keys {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch answer := strings.TrimRight(string(line), "\r\n"); answer {
		case "DELETED", "NOT_FOUND":
		default:
			return fmt.Errorf("memcached answered %.100q to a deletion", answer)
		}
	}
	return nil
}
