package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/fernet"
)

const rotations = 10

// rotate turns the keys ten times by the command, in a minute or less.
func rotate(t *testing.T, p place, between time.Duration) {
	for range rotations {
		time.Sleep(between)
		p.must(t, "fernet_rotate")
	}
}

func pause() time.Duration {
	if long() {
		return 6 * time.Second
	}
	return 1200 * time.Millisecond
}

// TestRotateUnderLoad: two servers share a folder of keys that is rotated ten
// times. Each token is read by the other at once and by both at the end; the
// servers get no signal. As many keys stay as there are rotations: a token's key
// must outlive the token.
func TestRotateUnderLoad(t *testing.T) {
	t.Parallel()
	const wanted = 10000
	p := ready(t)
	p.edit(t, "[fernet_tokens]", fmt.Sprint("[fernet_tokens]\nmax_active_keys = ", rotations+2))
	dir := p.dir + "/fernet-keys"
	var servers [2]*token.Fernet
	for i := range servers {
		repo, err := fernet.Open(dir, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		servers[i] = token.NewFernet(repo, []string{"password"}, "default")
	}
	made := make([][]string, len(servers))
	var running atomic.Bool
	running.Store(true)
	var all sync.WaitGroup
	var count atomic.Int64
	for i := range servers {
		all.Go(func() {
			for running.Load() || count.Load() < wanted {
				in := token.Token{UserID: "u", Methods: []string{"password"}, AuditIDs: []string{token.NewAuditID()}, ExpiresAt: time.Now().Add(time.Hour)}
				text, err := servers[i].Issue(&in)
				if err == nil {
					_, err = servers[1-i].Decode(text)
				}
				if err != nil {
					t.Errorf("server %d, at once: %v", i, err)
					return
				}
				made[i] = append(made[i], text)
				if count.Add(1)%20 == 0 {
					time.Sleep(pause() * rotations * 20 * 2 / wanted) // spread over the rotations
				}
			}
		})
	}
	began := time.Now()
	rotate(t, p, pause())
	running.Store(false)
	all.Wait()
	lost := 0
	for _, list := range made {
		for _, text := range list {
			for i, s := range servers {
				if _, err := s.Decode(text); err != nil {
					lost++
					t.Errorf("server %d, at the end: %v", i, err)
				}
			}
		}
	}
	t.Logf("figure: %d rotations, %d tokens, %d lost, in %v", rotations, count.Load(), lost, time.Since(began).Round(time.Second))
	if count.Load() < wanted {
		t.Errorf("only %d tokens", count.Load())
	}
}

// TestRotateUnderServers does the same with two processes and logins, of which
// a password hash leaves fewer.
func TestRotateUnderServers(t *testing.T) {
	t.Parallel()
	wanted := 300
	if long() {
		wanted = 10000
	}
	p := running(t)
	p.edit(t, "[fernet_tokens]", fmt.Sprint("[fernet_tokens]\nmax_active_keys = ", rotations+2))
	var servers [2]*process
	for i := range servers {
		servers[i] = launch(t, nil, nil, "--config-file", p.conf, "serve")
	}
	made := make([][]string, 4)
	var going atomic.Bool
	going.Store(true)
	var clients sync.WaitGroup
	for c := range made {
		clients.Go(func() {
			here, there := servers[c%2], servers[1-c%2]
			for going.Load() || len(made[c]) < wanted/len(made) {
				text, err := here.login()
				if err == nil {
					err = there.validate(text, text)
				}
				if err != nil {
					t.Errorf("client %d, at once: %v", c, err)
					return
				}
				made[c] = append(made[c], text)
				time.Sleep(pause() * rotations / time.Duration(wanted) * 2)
			}
		})
	}
	began := time.Now()
	rotate(t, p, pause())
	going.Store(false)
	clients.Wait()
	total, lost := 0, 0
	for _, list := range made {
		for i, text := range list {
			total++
			if err := servers[i%2].validate(text, text); err != nil {
				lost++
				t.Errorf("at the end: %v", err)
			}
		}
	}
	t.Logf("figure: %d rotations, %d tokens of logins, %d lost, in %v", rotations, total, lost, time.Since(began).Round(time.Second))
	if total < wanted {
		t.Errorf("only %d tokens", total)
	}
}
