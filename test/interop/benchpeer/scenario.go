package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// scenario is a kind of request, sent by so many clients at a time.
type scenario struct {
	name      string
	clients   int
	status    int
	request   func(base string, n int64) (*http.Request, error)
	validates bool // held to the goals of validation
}

// figure is what one run came to: ms of processor time a request, requests a
// second.
type figure struct {
	cpu, rate float64
	count     int
}

const tokens = 20

// scenarios makes the rows that they need: twenty tokens, a catalog of six
// services with eighteen endpoints (a token's body has 4 kB), twenty regions.
func scenarios(e *peer.Env) ([]scenario, error) {
	admin, err := login(e, peer.OnProject("admin"))
	if err != nil {
		return nil, err
	}
	ask := func(path string, body any) (peer.Answer, error) {
		a, err := peer.Send(e.Python.URL, peer.Call{Method: "POST", Path: path, Body: body, Token: admin})
		if err == nil && a.Status != http.StatusCreated {
			err = fmt.Errorf("POST %s: %v", path, a)
		}
		return a, err
	}
	for i := range 20 {
		if _, err := ask("/v3/regions", peer.M{"region": peer.M{"id": fmt.Sprint("region", i)}}); err != nil {
			return nil, err
		}
	}
	for i := range 5 {
		s, err := ask("/v3/services", peer.M{"service": peer.M{"type": fmt.Sprint("kind", i), "name": fmt.Sprint("service", i)}})
		if err != nil {
			return nil, err
		}
		for _, face := range []string{"public", "internal", "admin"} {
			_, err := ask("/v3/endpoints", peer.M{"endpoint": peer.M{
				"service_id": s.Text("service", "id"), "interface": face, "region_id": "RegionOne", "url": "http://service.example/v1/$(project_id)s",
			}})
			if err != nil {
				return nil, err
			}
		}
	}
	var subjects [tokens]string
	for i := range subjects {
		if subjects[i], err = login(e, peer.OnProject("admin")); err != nil {
			return nil, err
		}
	}
	get := func(path string, header func(r *http.Request, n int64)) func(string, int64) (*http.Request, error) {
		return func(base string, n int64) (*http.Request, error) {
			r, err := http.NewRequest("GET", base+path, nil)
			if err == nil {
				header(r, n)
			}
			return r, err
		}
	}
	body, err := json.Marshal(peer.Login("admin", peer.Password, peer.OnProject("admin")))
	if err != nil {
		return nil, err
	}
	validation := get("/v3/auth/tokens", func(r *http.Request, n int64) {
		r.Header.Set("X-Auth-Token", admin)
		r.Header.Set("X-Subject-Token", subjects[n%tokens])
	})
	return []scenario{
		// Four clients keep Python's two processes busy and leave keystone-go
		// going to sleep and waking up; as many as a cloud has services do not.
		{name: "validation", clients: 4, status: http.StatusOK, request: validation, validates: true},
		{name: "validation, 32 clients", clients: 32, status: http.StatusOK, request: validation, validates: true},
		{name: "login", clients: 4, status: http.StatusCreated, request: func(base string, _ int64) (*http.Request, error) {
			r, err := http.NewRequest("POST", base+"/v3/auth/tokens", bytes.NewReader(body))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			return r, err
		}},
		{name: "discovery", clients: 4, status: http.StatusOK, request: get("/v3", func(*http.Request, int64) {})},
		{name: "region list", clients: 4, status: http.StatusOK, request: get("/v3/regions", func(r *http.Request, _ int64) { r.Header.Set("X-Auth-Token", admin) })},
	}, nil
}

func login(e *peer.Env, scope any) (string, error) {
	a, err := peer.Send(e.Go.URL, peer.Call{Method: "POST", Path: "/v3/auth/tokens", Body: peer.Login("admin", peer.Password, scope)})
	if err != nil || a.Status != http.StatusCreated {
		return "", fmt.Errorf("login: %v %w", a, err)
	}
	return a.Header.Get("X-Subject-Token"), nil
}

// warm is sent before a run is timed, so that caches are filled.
const warm = 2 * tokens

func (s scenario) run(server *peer.Server, length time.Duration) (figure, error) {
	var (
		sent, done atomic.Int64
		first      atomic.Pointer[error]
		clients    sync.WaitGroup
	)
	transport := &http.Transport{MaxIdleConnsPerHost: s.clients}
	defer transport.CloseIdleConnections()
	c := http.Client{Timeout: time.Minute, Transport: transport}
	fail := func(err error) { first.CompareAndSwap(nil, &err) }
	one := func() {
		r, err := s.request(server.URL, sent.Add(1))
		if err != nil {
			fail(err)
			return
		}
		resp, err := c.Do(r)
		if err != nil {
			fail(err)
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != s.status {
			fail(fmt.Errorf("status %d, %w", resp.StatusCode, err))
			return
		}
		done.Add(1)
	}
	if s.name != "login" {
		for range warm {
			one()
		}
	}
	done.Store(0)
	before, err := server.Processor()
	if err != nil {
		return figure{}, err
	}
	start := time.Now()
	for range s.clients {
		clients.Go(func() {
			for time.Since(start) < length && first.Load() == nil {
				one()
			}
		})
	}
	clients.Wait()
	took := time.Since(start)
	after, err := server.Processor()
	if p := first.Load(); p != nil {
		err = *p
	}
	n := float64(done.Load())
	return figure{cpu: (after - before).Seconds() * 1000 / n, rate: n / took.Seconds(), count: int(n)}, err
}
