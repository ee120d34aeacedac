// Package logtest says of a log what a test wants of every log: kolla's fluentd
// reads each line, and no secret that went through the server is in it.
package logtest

import (
	"io"
	"regexp"
	"strings"
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

// ReadsAsRecord reports whether kolla takes a line for the first of a record.
func ReadsAsRecord(line string) bool { return FirstLine.MatchString(line) && Line.MatchString(line) }

// checker fails the test of a server whose log kolla would misread, or that
// holds a secret that went through the server.
type checker struct {
	t       testing.TB
	next    io.Writer // nil: nobody else reads the log
	secrets *Secrets

	mu    sync.Mutex
	text  strings.Builder // not yet searched
	ended bool
}

// searchedAt is how much of a log is kept for one search.
const searchedAt = 8 << 20

// Checked gives a writer for the log of a server, which fails the test for what
// is wrong with it, at its end at the latest, and hands it on to next, if set.
func Checked(t testing.TB, next io.Writer, secrets *Secrets) io.Writer {
	c := &checker{t: t, next: next, secrets: secrets}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.search()
		SecretsSought.Add(int64(secrets.Len()))
		c.ended = true
	})
	return c
}

// search looks for the secrets that are known by now.
func (c *checker) search() {
	for _, found := range c.secrets.In(c.text.String()) {
		c.t.Errorf("the log holds %s", found)
	}
	c.text.Reset()
}

// Write takes one record: its first line must look like one, and those of a
// stack behind it must not.
func (c *checker) Write(record []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.read(string(record))
	}
	if c.next != nil {
		return c.next.Write(record)
	}
	return len(record), nil
}

func (c *checker) read(record string) {
	for i, line := range strings.Split(strings.TrimSuffix(record, "\n"), "\n") {
		switch first := ReadsAsRecord(line); {
		case i == 0 && !first:
			c.t.Errorf("kolla cannot read this line of the log: %s", line)
		case i > 0 && first:
			c.t.Errorf("kolla takes this line of a stack for a record: %s", line)
		case i == 0:
			LinesChecked.Add(1)
		}
	}
	c.text.WriteString(record)
	if c.text.Len() > searchedAt {
		c.search()
	}
}
