//go:build interop

// Package crossing_test has the two servers work on the same rows: what one
// issues, writes, revokes or locks, the other must know with the next request.
package crossing_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// pair is the Env of the tests that change nothing but rows of their own.
var pair = sync.OnceValues(func() (*peer.Env, error) {
	return peer.Open(peer.Options{
		Processes: 2,
		Conf: peer.Conf{
			"security_compliance": {"lockout_failure_attempts": fmt.Sprint(attempts), "lockout_duration": fmt.Sprint(lockSeconds)},
			"fernet_tokens":       {"max_active_keys": "9"},
			"token":               {"expiration": "86400"},
		},
	})
})

var opened bool

func TestMain(m *testing.M) {
	code := m.Run()
	if opened {
		if e, _ := pair(); e != nil {
			if err := e.Close(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// shared gives the Env.
func shared(t *testing.T) *cloud {
	t.Helper()
	opened = true
	e, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range e.Servers() {
				t.Logf("the log of %s:\n%s", s.Name, s.Log())
			}
		}
	})
	return newCloud(t, e)
}

// both runs f once with each server as the one that acts first.
func both(t *testing.T, e *peer.Env, f func(t *testing.T, one, other *peer.Server)) {
	t.Run("python then go", func(t *testing.T) { f(t, e.Python, e.Go) })
	t.Run("go then python", func(t *testing.T) { f(t, e.Go, e.Python) })
}
