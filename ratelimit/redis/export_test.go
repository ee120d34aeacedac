package redis

import (
	"strings"
	"time"
)

// SetClock has the script decide by a clock of the test, and keep what it
// writes: how long the server keeps a key goes by the server's clock alone.
func (c *Client) SetClock(now func() time.Duration) {
	text := take.text
	for _, r := range [][2]string{
		{`redis.call('TIME')`, `{ARGV[#ARGV - 1], ARGV[#ARGV]}`},
		{`'PX', string.format('%.0f', roundup(left, 1000) + 1)`, `'PX', '100000000'`},
	} {
		if strings.Count(text, r[0]) == 0 {
			panic("the script has no " + r[0])
		}
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	c.clock, c.script = now, newScript(text)
}

// ForgetDenials empties what the store remembers of refusals, so that each
// check asks the server.
func (s *Store) ForgetDenials() { s.denied = nil }
