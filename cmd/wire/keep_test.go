package wire

import (
	"bytes"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
)

// TestRL_L25: reading the same numbers again is the identity: who owed all is
// refused still.
func TestRL_L25(t *testing.T) {
	var out bytes.Buffer
	first, err := limitsOnly(t, nil, &out, numbers(10, 10))
	if err != nil {
		t.Fatal(err)
	}
	if got := spend(t, first, "192.0.2.1", 11); got != 10 {
		t.Fatalf("%d of 10", got)
	}
	for range 3 {
		next, err := limitsOnly(t, first, &out, numbers(10, 10))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Adopt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(next.changes) != 0 {
			t.Errorf("changes: %+v", next.changes)
		}
		if got := spend(t, next, "192.0.2.1", 1); got != 0 {
			t.Error("admitted after a reload that changed nothing")
		}
		first = next
	}
}

// TestRL_L27: a number that cannot be is told, and the limiters go on as they
// were, with what is owed.
func TestRL_L27(t *testing.T) {
	var out bytes.Buffer
	first, err := limitsOnly(t, nil, &out, numbers(10, 10))
	if err != nil {
		t.Fatal(err)
	}
	spend(t, first, "192.0.2.1", 10)
	spend(t, first, "192.0.2.2", 4)
	for _, change := range []func(*conf.Config){
		numbers(0, 10), numbers(10, 0), numbers(100_001, 10),
		func(c *conf.Config) { c.RateLimitUserAuth.BurstSize = nil },
		func(c *conf.Config) { c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.1/8"} },
	} {
		if _, err := limitsOnly(t, first, &out, change); err == nil {
			t.Fatal("a fault was taken over")
		}
		if q := first.Limits.GlobalIP.Quota(); q.Burst != 10 || q.Rate != 10 {
			t.Fatalf("the quota is %v", q)
		}
	}
	if got := spend(t, first, "192.0.2.1", 5); got != 0 {
		t.Errorf("who owed all got %d", got)
	}
	if got := spend(t, first, "192.0.2.2", 20); got != 6 {
		t.Errorf("who owed four got %d", got)
	}
}
