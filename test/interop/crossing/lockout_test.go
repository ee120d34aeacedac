//go:build interop

package crossing_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// Of [security_compliance]: failures that lock, and the seconds that it lasts.
const (
	attempts    = 4
	lockSeconds = 60
)

type lock struct {
	Count *int
	At    *time.Time
}

func (c *cloud) lock(p *person) lock {
	c.t.Helper()
	l, err := db.One(context.Background(), c.DB, db.Query[lock]{
		Text: `select failed_auth_count, failed_auth_at from local_user where user_id = $1`, Args: []any{p.id},
		Scan: func(r db.Row) (l lock, err error) { err = r.Scan(&l.Count, &l.At); return l, err },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

func (c *cloud) tries(s *peer.Server, p *person, password string) int {
	c.t.Helper()
	as := *p
	as.password = password
	return s.Do(c.t, call{Method: "POST", Path: "/v3/auth/tokens", Body: as.byPassword("unscoped")}).Status
}

// TestLockout: failures count together, whoever was asked, and the right
// password is refused by both after the same number of them.
func TestLockout(t *testing.T) {
	c := shared(t)
	both(t, c.Env, func(t *testing.T, one, other *peer.Server) {
		c := newCloud(t, c.Env)
		servers := []*peer.Server{one, other}
		for failures := range attempts + 1 {
			p := c.person()
			for i := range failures {
				if got := c.tries(servers[i%2], p, "wrong"); got != http.StatusUnauthorized {
					t.Fatalf("failure %d at %s: %d", i, servers[i%2].Name, got)
				}
				if l := c.lock(p); l.Count == nil || *l.Count != i+1 || l.At == nil {
					t.Errorf("after failure %d at %s the row says %+v", i, servers[i%2].Name, l)
				}
			}
			// One alone must clear what there is; both must know of a lock.
			want, asked := http.StatusCreated, servers[failures%2:failures%2+1]
			if failures >= attempts {
				want, asked = http.StatusUnauthorized, servers
			}
			for _, s := range asked {
				if got := c.tries(s, p, p.password); got != want {
					t.Errorf("the right password at %s after %d failures: %d, want %d", s.Name, failures, got, want)
				}
			}
			if l := c.lock(p); want == http.StatusCreated && (l.Count != nil && *l.Count != 0 || l.At != nil) {
				t.Errorf("after a success the row says %+v", l)
			}
		}
	})
}

// TestLockEnds: both let the user in again at the same moment. The lock is put
// into the row so that it ends soon.
func TestLockEnds(t *testing.T) {
	c := shared(t)
	people := map[string]*person{}
	for _, s := range c.Servers() {
		people[s.Name] = c.person()
	}
	const soon = 6 * time.Second
	end := time.Now().Add(soon)
	for _, p := range people {
		_, err := c.DB.Exec(t.Context(), `update local_user set failed_auth_count = $1, failed_auth_at = $2 where user_id = $3`,
			attempts, end.Add(-lockSeconds*time.Second), p.id)
		if err != nil {
			t.Fatal(err)
		}
	}
	let := map[string]time.Duration{}
	for len(let) < len(people) && time.Since(end) < time.Minute {
		for _, s := range c.Servers() {
			if _, in := let[s.Name]; in {
				continue
			}
			before := time.Now()
			status := c.tries(s, people[s.Name], people[s.Name].password)
			after := time.Now()
			switch {
			case status == http.StatusCreated && after.Before(end):
				t.Errorf("%s let the user in %s too early", s.Name, end.Sub(after))
				let[s.Name] = after.Sub(end)
			case status == http.StatusCreated:
				let[s.Name] = after.Sub(end)
			case before.After(end.Add(time.Millisecond)):
				t.Errorf("%s answered %d though the lock had ended %s before", s.Name, status, before.Sub(end))
				let[s.Name] = after.Sub(end)
			}
		}
	}
	t.Logf("let in after the end of the lock: %v", let)
	if len(let) < len(people) {
		t.Errorf("let in: %v", let)
	}
}
