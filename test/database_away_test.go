package test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/dbtest/mariaserver"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestPrimaryAway: a MariaDB that was made a replica takes no writes, which are
// answered by 503 while reads go on; from one that is gone nothing is read either.
func TestPrimaryAway(t *testing.T) {
	own, err := mariaserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Stop()
	root := dbtest.Connect(t, db.Config{URL: own.URL})
	run := func(text string) {
		t.Helper()
		if _, err := root.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run(`create database keystone`)
	run(`create user keystone@'%' identified by 'secret'`) // root may write to a replica
	run(`grant all on keystone.* to keystone@'%'`)
	address := strings.Replace(strings.TrimSuffix(own.URL, "mysql")+"keystone", "root@", "keystone:secret@", 1)
	if err := migrations.Sync(t.Context(), dbtest.Connect(t, db.Config{URL: address})); err != nil {
		t.Fatal(err)
	}
	s := harness.New(t, harness.Options{URL: address})
	admin := s.Admin()
	read := harness.Call{Method: "GET", Path: "/v3/regions", Token: admin}
	write := harness.Call{Method: "POST", Path: "/v3/regions", Token: admin, Body: harness.M{"region": harness.M{"id": "new"}}}
	revoke := harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: admin}
	login := harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("admin", harness.Password, nil)}
	check := func(state string, want map[*harness.Call]int) {
		t.Helper()
		for call, status := range want {
			a := s.Do(*call)
			if a.Status != status {
				t.Errorf("%s: %s %s: %d %s, want %d", state, call.Method, call.Path, a.Status, a.Body, status)
			}
			if status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s %s: no Retry-After", state, call.Method, call.Path)
			}
		}
	}
	run(`set global read_only = 1`)
	check("a replica", map[*harness.Call]int{&read: 200, &login: 201, &write: 503, &revoke: 503})
	run(`set global read_only = 0`)
	check("a primary again", map[*harness.Call]int{&write: 201})
	own.Stop()
	check("gone", map[*harness.Call]int{&read: 503, &login: 503, &write: 503, &revoke: 503})
}
