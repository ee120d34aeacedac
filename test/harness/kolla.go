package harness

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
)

// How kolla's fluentd reads keystone.log: a line that FirstLine does not match
// is glued to the one before, and Line takes the record apart.
var (
	FirstLine = regexp.MustCompile(`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}.\d{3} \d+ \S+ \S+ \[.*\]`)
	Line      = regexp.MustCompile(`^(?P<Timestamp>\S+ \S+) (?P<Pid>\d+) (?P<log_level>\S+) (?P<python_module>\S+) (\[(?:None|req-)(?P<global_request_id>\S+)? ` +
		`(?:None|req-)(?P<request_id>\S+) (?P<user_id>\S+) (?P<tenant_id>\S+) (?P<domain_id>\S+) (?P<system_scope>\S+) (?P<user_domain>\S+) (?P<project_domain>\S+)\])?(?P<Payload>.*)?$`)
)

// LinesChecked counts the lines of all servers' logs that kolla's expressions
// have matched.
var LinesChecked atomic.Int64

// checker fails the test of a server whose log kolla would misread.
type checker struct {
	t    testing.TB
	next io.Writer // nil: nobody else reads the log

	mu    sync.Mutex
	ended bool
}

func checked(t testing.TB, next io.Writer) io.Writer {
	c := &checker{t: t, next: next}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
	})
	return c
}

// Write takes one record: its first line must look like one, and those of a
// stack behind it must not.
func (c *checker) Write(record []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, line := range bytes.Split(bytes.TrimSuffix(record, []byte("\n")), []byte("\n")) {
		switch first := FirstLine.Match(line) && Line.Match(line); {
		case c.ended:
		case i == 0 && !first:
			c.t.Errorf("kolla cannot read this line of the log: %s", line)
		case i > 0 && first:
			c.t.Errorf("kolla takes this line of a stack for a record: %s", line)
		case i == 0:
			LinesChecked.Add(1)
		}
	}
	if c.next != nil {
		return c.next.Write(record)
	}
	return len(record), nil
}
