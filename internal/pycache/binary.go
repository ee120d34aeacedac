package pycache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// binaryConn speaks memcached's binary protocol, the one in which SASL can be
// spoken.
type binaryConn struct {
	net.Conn
	r *bufio.Reader
}

func newBinaryConn(c net.Conn) *binaryConn { return &binaryConn{Conn: c, r: bufio.NewReader(c)} }

// Of the binary protocol.
const (
	requestMagic, responseMagic = 0x80, 0x81
	opDelete, opLogin           = 0x04, 0x21
	statusDone, statusNotFound  = 0, 1
	headSize                    = 24
	longestAnswer               = 1 << 16
)

// login proves who we are by SASL PLAIN.
func (c *binaryConn) login(secret string) error {
	if _, err := c.Write(request(nil, opLogin, "PLAIN", secret)); err != nil {
		return err
	}
	status, err := c.answer(opLogin)
	if err == nil && status != statusDone {
		err = errors.New("memcached refuses the user and password of [cache]")
	}
	return err
}

func (c *binaryConn) delete(keys []string) error {
	var all []byte
	for _, k := range keys {
		all = request(all, opDelete, k, "")
	}
	if _, err := c.Write(all); err != nil {
		return err
	}
	for range keys {
		status, err := c.answer(opDelete)
		if err != nil {
			return err
		}
		if status != statusDone && status != statusNotFound {
			return fmt.Errorf("memcached answered status %d to a deletion", status)
		}
	}
	return nil
}

// request appends one: head, key, value.
func request(b []byte, op byte, key, value string) []byte {
	var head [headSize]byte
	head[0], head[1] = requestMagic, op
	binary.BigEndian.PutUint16(head[2:], uint16(len(key)))
	binary.BigEndian.PutUint32(head[8:], uint32(len(key)+len(value)))
	b = append(b, head[:]...)
	b = append(b, key...)
	return append(b, value...)
}

// answer reads one and gives its status.
func (c *binaryConn) answer(op byte) (status uint16, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, err
	}
	size := binary.BigEndian.Uint32(head[8:])
	if head[0] != responseMagic || head[1] != op || size > longestAnswer {
		return 0, errors.New("memcached does not speak its binary protocol, which SASL needs")
	}
	_, err = io.CopyN(io.Discard, c.r, int64(size))
	return binary.BigEndian.Uint16(head[6:]), err
}
