//go:build interop

package crossing_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// TestRotation: keys are rotated by either under load on both, and no token is
// lost: each validates at both when it is new and when all is over.
func TestRotation(t *testing.T) {
	c := shared(t)
	p := c.person()
	owner, err := peer.Owner()
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu     sync.Mutex
		issued = map[string]string{} // by whom
		count  = map[string]int{}
		faults []string
		done   = make(chan struct{})
		load   sync.WaitGroup
	)
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if len(faults) < 20 {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	ask := func(s *peer.Server, token string) {
		a, err := peer.Send(s.URL, call{Method: "GET", Path: "/v3/auth/tokens?nocatalog", Token: c.admin, Subject: token})
		if err != nil || a.Status != http.StatusOK {
			note("a token at %s: %v %v", s.Name, a, err)
		}
	}
	for _, s := range c.Servers() {
		load.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				a, err := peer.Send(s.URL, call{Method: "POST", Path: "/v3/auth/tokens", Body: p.byPassword("project")})
				if err != nil || a.Status != http.StatusCreated {
					note("a login at %s: %v %v", s.Name, a, err)
					continue
				}
				token := a.Header.Get("X-Subject-Token")
				mu.Lock()
				issued[token] = s.Name
				count[s.Name]++
				mu.Unlock()
				for _, at := range c.Servers() {
					ask(at, token)
				}
			}
		})
	}
	// more waits until each server has issued some tokens.
	more := func() {
		mu.Lock()
		before := map[string]int{"python": count["python"], "go": count["go"]}
		mu.Unlock()
		for range 1200 {
			mu.Lock()
			enough := count["python"] >= before["python"]+4 && count["go"] >= before["go"]+4
			mu.Unlock()
			if enough {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error("there is no load")
	}
	for _, s := range []*peer.Server{c.Go, c.Python, c.Go, c.Python} {
		more()
		s.MustManage(t, append([]string{"fernet_rotate"}, owner...)...)
	}
	more()
	close(done)
	load.Wait()
	ofGo := 0
	for token, by := range issued {
		if by == "go" {
			// Thousands of them: all at their own server, some at the other.
			ofGo++
			ask(c.Go, token)
			if ofGo%20 != 0 {
				continue
			}
		}
		ask(c.Python, token)
	}
	for _, f := range faults {
		t.Error(f)
	}
	t.Logf("over four rotations: %v tokens", count)
}
