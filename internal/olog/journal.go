package olog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const journalPath = "/run/systemd/journal/socket"

// journal is a sink that speaks journald's native protocol: a datagram of
// fields, or the descriptor of a file of them where they are too many.
type journal struct {
	path     string
	facility int
	tag      string

	mu   sync.Mutex
	conn *net.UnixConn
}

// write sends the fields of oslo.log's OSJournalHandler.
func (j *journal) write(r *record, text []byte) error {
	var b bytes.Buffer
	field(&b, "MESSAGE", string(text))
	field(&b, "PRIORITY", strconv.Itoa(severity(r)))
	field(&b, "SYSLOG_FACILITY", strconv.Itoa(j.facility))
	field(&b, "SYSLOG_IDENTIFIER", j.tag)
	field(&b, "CODE_FILE", r.source.path)
	field(&b, "CODE_LINE", strconv.Itoa(r.source.line))
	field(&b, "CODE_FUNC", r.source.function)
	field(&b, "THREAD_NAME", "MainThread")
	field(&b, "PROCESS_NAME", "MainProcess")
	field(&b, "LOGGER_NAME", r.logger)
	field(&b, "LOGGER_LEVEL", level(r.level))
	for _, f := range []struct{ name, value string }{
		{"EXCEPTION_INFO", r.stack},
		{"EXCEPTION_TEXT", r.stack},
		{"PROJECT_NAME", r.req.ProjectName},
		{"PROJECT_ID", r.req.Project},
		{"USER_NAME", r.req.UserName},
		{"USER_ID", r.req.User},
		{"REQUEST_ID", r.req.ID},
	} {
		if f.value != "" {
			field(&b, f.name, f.value)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.send(b.Bytes())
	if err != nil {
		j.drop()
		err = j.send(b.Bytes())
	}
	return err
}

// field appends NAME=value, or the form with a length for a value of several
// lines.
func field(b *bytes.Buffer, name, value string) {
	b.WriteString(name)
	if bytes.IndexByte([]byte(value), '\n') < 0 {
		b.WriteByte('=')
	} else {
		b.WriteByte('\n')
		_ = binary.Write(b, binary.LittleEndian, uint64(len(value)))
	}
	b.WriteString(value)
	b.WriteByte('\n')
}

func (j *journal) send(fields []byte) error {
	if j.conn == nil {
		// Not connected: net sends no descriptors over a connected one.
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram"})
		if err != nil {
			return fmt.Errorf("journald: %w", err)
		}
		j.conn = c
	}
	// A daemon that does not read must not hold up requests.
	_ = j.conn.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := j.conn.WriteToUnix(fields, j.address())
	if errors.Is(err, syscall.EMSGSIZE) || errors.Is(err, syscall.ENOBUFS) {
		return j.sendFile(fields)
	}
	return err
}

// sendFile hands over what no datagram holds, in a file without a name.
func (j *journal) sendFile(fields []byte) error {
	f, err := os.CreateTemp("/dev/shm", "keystone-journal.*")
	if err != nil {
		return fmt.Errorf("journald: %w", err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("journald: %w", err)
	}
	if _, err := f.Write(fields); err != nil {
		return fmt.Errorf("journald: %w", err)
	}
	_, _, err = j.conn.WriteMsgUnix(nil, syscall.UnixRights(int(f.Fd())), j.address())
	return err
}

func (j *journal) address() *net.UnixAddr { return &net.UnixAddr{Name: j.path, Net: "unixgram"} }

func (j *journal) drop() {
	if j.conn != nil {
		_ = j.conn.Close()
		j.conn = nil
	}
}

func (j *journal) reopen() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.drop()
	return nil
}

func (j *journal) close() error { return j.reopen() }
