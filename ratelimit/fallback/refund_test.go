package fallback_test

import (
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/redistest"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/fallback"
)

// crossing is a process whose Redis goes away with all that it holds, and comes
// back; it keeps count of what was admitted and not given back.
type crossing struct {
	*node
	*testing.T
	proxy  *redistest.Proxy
	server string
	key    ratelimit.Key
	net    int
}

// take tries n times and wants so many admitted, and never more in all than the
// shared quota and this process' part.
func (c *crossing) take(n, want int) {
	c.Helper()
	got := 0
	for range n {
		if c.try(c.T, c.key) {
			got++
		}
	}
	if c.net += got; got != want || c.net > 15 {
		c.Fatalf("%d of %d were admitted, want %d; %d in all", got, n, want, c.net)
	}
}

func (c *crossing) giveBack(n int) {
	c.Helper()
	for range n {
		if err := c.node.Refund(c.Context(), c.key); err != nil {
			c.Fatal(err)
		}
	}
	c.net -= n
}

// away and back look by a key of nobody's until all checks go there.
func (c *crossing) away() {
	c.Helper()
	c.proxy.To("127.0.0.1:1")
	c.proxy.Cut()
	time.Sleep(1100 * time.Millisecond) // a refusal is remembered for a second
	c.until(true)
}

func (c *crossing) back() {
	c.Helper()
	c.proxy.To(c.server)
	c.until(false)
}

func (c *crossing) until(failing bool) {
	c.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c.try(c.T, ratelimit.Key{Hi: 99}); c.guard.Failing() == failing && c.client.Broken() == failing {
			return
		}
	}
	c.Fatalf("failing is not %v", failing)
}

// What is charged in one store and given back in the other, because Redis went
// or came in between, leaves what is kept within both quotas: ten that are
// shared, and five of this process. It makes no store owe less than nothing.
func TestRefundCrosses(t *testing.T) {
	s := redistest.Start(t)
	c := &crossing{T: t, proxy: redistest.Between(t, s.Addr), server: s.Addr, key: ratelimit.Key{Hi: 1}}
	c.node = newNode(t, patient(c.proxy.Addr), fallback.Local, slow)
	c.take(12, 10)
	c.away()
	c.take(8, 5)
	c.back()
	c.giveBack(5) // of what was charged here, in Redis
	c.take(12, 5)
	c.away()
	c.take(8, 0)  // here it is owed still
	c.giveBack(3) // of what was charged in Redis, here
	c.take(8, 3)
	c.back()
	c.take(12, 0)

	// Where nothing is owed, nothing can be given back.
	c.key, c.net = ratelimit.Key{Hi: 2}, 0
	c.away()
	c.take(8, 5)
	c.back()
	c.giveBack(5)
	c.take(12, 10)
	c.away()
	c.take(8, 0)

	// So it goes on over many outages.
	c.key, c.net = ratelimit.Key{Hi: 3}, 0
	c.take(8, 5)
	c.back()
	c.take(12, 10)
	for range 3 {
		c.giveBack(4)
		c.away()
		c.take(8, 0)
		c.giveBack(2)
		c.take(8, 2)
		c.back()
		c.take(12, 4)
	}
}
