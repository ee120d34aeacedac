package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/test/harness"
)

// refusal is a login that is refused.
type refusal struct {
	name string
	body func(c *cloud) any
}

func byID(user, password string) func(c *cloud) any {
	return func(c *cloud) any {
		return harness.M{"auth": harness.M{"identity": harness.M{"methods": []string{"password"}, "password": harness.M{"user": harness.M{"id": c.ids[user], "password": password}}}}}
	}
}

func byText(user string) func(c *cloud) any {
	return func(*cloud) any {
		return `{"auth":{"identity":{"methods":["password"],"password":{"user":{` + user + `}}}}}`
	}
}

// refusals are all the reasons why a login is refused that nobody may tell
// apart; refusable makes the users for them.
var refusals = []refusal{
	{"unknown domain", byText(`"name":"ana","domain":{"id":"none"},"password":"ana-pw"`)},
	{"unknown name of a domain", byText(`"name":"ana","domain":{"name":"none"},"password":"ana-pw"`)},
	{"unknown user", byText(`"name":"nobody","domain":{"id":"default"},"password":"ana-pw"`)},
	{"unknown id", byText(`"id":"nobody","password":"ana-pw"`)},
	{"wrong", byID("ana", "wrong")},
	{"locked", byID("locked", "locked-pw")},
	{"locked and wrong", byID("locked", "wrong")},
	{"disabled", byID("disabled", "disabled-pw")},
	{"disabled domain", byID("ole", "ole-pw")},
	{"no password stored", byID("bare", "x")},
	{"no password sent", byText(`"name":"ana","domain":{"id":"default"}`)},
	{"empty", byID("ana", "")},
	{"over-long", byID("ana", strings.Repeat("x", 5000))},
	{"unreadable hash", byID("broken", "broken-pw")},
	{"unknown scope", func(c *cloud) any { return harness.Login("ana", "ana-pw", harness.OnProject("none")) }},
	{"NUL in the name", byText(`"name":"ana\u0000","domain":{"id":"default"},"password":"ana-pw"`)},
}

// refusable is a server, and a cloud in which each refusal has its reason.
func refusable(t *testing.T, engine string, cost int) *cloud {
	t.Helper()
	three := 3
	c := newCloud(t, harness.Options{Engine: engine, Conf: func(c *conf.Config) {
		c.SecurityCompliance.LockoutFailureAttempts = &three
		c.SecurityCompliance.LockoutDuration = 24 * 3600 // longer than it takes to measure
		c.Identity.PasswordHashRounds = &cost
		c.KeystoneGo.HashSlots = 1
	}})
	for _, name := range []string{"locked", "disabled", "bare", "broken"} {
		c.create(name, "default")
	}
	c.update("ana", `{"options":{"ignore_lockout_failure_attempts":true}}`)
	c.update("disabled", `{"enabled":false}`)
	c.update("bare", `{"password":null}`)
	c.sql(`update local_user set failed_auth_count = $1, failed_auth_at = $2 where user_id = $3`, 3, c.now().UTC(), c.ids["locked"])
	c.sql(`update password set password_hash = $1 where local_user_id = (select l.id from local_user l where l.user_id = $2)`, "$9$unknown$scheme", c.ids["broken"])
	c.sql(`update project set enabled = $1 where id = $2`, false, acme)
	return c
}

func (c *cloud) refused(r refusal) harness.Answer {
	c.t.Helper()
	return c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: r.body(c)})
}

// TestRefusalsAreOne: every refusal costs exactly one hash, and its bytes are
// those of any other but for the request id.
func TestRefusalsAreOne(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			c := refusable(t, engine, 4)
			var first harness.Answer
			for i, r := range refusals {
				before := c.Hasher.Stats().Done
				a := c.refused(r)
				c.bare(r.name, a)
				if n := c.Hasher.Stats().Done - before; n != 1 {
					t.Errorf("%s: %d hashes, want 1", r.name, n)
				}
				a.Header.Del("X-Openstack-Request-Id")
				if i == 0 {
					first = a
				}
				if got, want := fmt.Sprint(a.Header), fmt.Sprint(first.Header); got != want {
					t.Errorf("%s: headers %s, of %s %s", r.name, got, refusals[0].name, want)
				}
			}
		})
	}
}

// dear reports whether a hash takes too long under the race detector, which
// finds nothing in it.
func dear(stored string) bool {
	if !raceEnabled {
		return false
	}
	for _, cost := range []string{"$12$", "r=11$", "r=12$", "2a,12$", "ln=16,r=8", "25000$", "656000$"} {
		if strings.Contains(stored, cost) {
			return true
		}
	}
	return false
}

// TestRecordedHashes: whoever has a hash that Python Keystone made logs in
// with his password, and with no other.
func TestRecordedHashes(t *testing.T) {
	text, err := os.ReadFile(harness.Testdata("peer/passwords.json"))
	if err != nil {
		t.Fatal(err)
	}
	var peer struct {
		Hashes []struct {
			Scheme, Plain, Hash, Wrong string
			Also                       *string `json:"also_verifies"`
			Verifies                   bool    `json:"zed_verifies"`
		}
	}
	if err := json.Unmarshal(text, &peer); err != nil {
		t.Fatal(err)
	}
	c := newCloud(t, harness.Options{Engine: dbtest.Engines()[0]})
	servers, done := map[string]*cloud{}, 0
	for _, p := range peer.Hashes {
		if dear(p.Hash) {
			continue
		}
		// Keystone cuts a password by the configured scheme.
		scheme := p.Scheme
		if scheme == "sha512_crypt" || scheme == "md5_crypt" {
			scheme = "scrypt"
		}
		if servers[scheme] == nil {
			servers[scheme] = c.again(func(c *conf.Config) { c.Identity.PasswordHashAlgorithm = scheme })
		}
		d := servers[scheme]
		d.sql(`update password set password_hash = $1 where local_user_id = (select l.id from local_user l where l.user_id = $2)`, p.Hash, c.ids["ana"])
		verdict := map[bool]int{true: 201, false: 401}
		// Zed has no bcrypt_sha256; newer releases made those.
		if a := d.try("ana", p.Plain, "p1"); a.Status != verdict[p.Verifies || p.Scheme == "bcrypt_sha256"] {
			t.Errorf("%s: %d for the right password: %s", p.Hash, a.Status, a.Body)
		}
		d.bare(p.Hash+", wrong", d.try("ana", p.Wrong, "p1"))
		if p.Also != nil {
			d.status(p.Hash+", cut", d.try("ana", *p.Also, "p1"), 201)
		}
		done++
	}
	if len(peer.Hashes) < 30 || !raceEnabled && done != len(peer.Hashes) {
		t.Errorf("%d of %d hashes", done, len(peer.Hashes))
	}
}

// fourHashes is how long four hashes take, two at a time.
func fourHashes(t *testing.T, cost int) time.Duration {
	t.Helper()
	h, err := passhash.New(passhash.Options{Rounds: &cost, Slots: 2, Queue: 4, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := h.Dummy(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// TestFortyLogins: forty at once on two slots at the usual cost are all let in
// within the usual wait. A machine that cannot do that by itself, since others
// keep it busy, gets a lower cost.
func TestFortyLogins(t *testing.T) {
	wait := time.Duration(conf.Default().KeystoneGo.HashWait) * time.Second
	cost := 12
	for cost > 4 && 10*fourHashes(t, cost) > wait/2 {
		cost--
	}
	c := newCloud(t, harness.Options{Engine: "postgres", Conf: func(c *conf.Config) {
		c.KeystoneGo.HashSlots = 2
		c.Identity.PasswordHashRounds = &cost
	}})
	before, start := c.Hasher.Stats(), time.Now()
	_, count := together(40, func(int) harness.Answer { return c.try("ana", "ana-pw", "p1") })
	t.Logf("cost %d: forty logins in %v", cost, time.Since(start))
	if count[201] != 40 {
		t.Errorf("%v, want 40 × 201", count)
	}
	if after := c.Hasher.Stats(); after.Done-before.Done != 40 || after.Refused != before.Refused || after.Running != 0 || after.Waiting != 0 {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// TestHangUpInTheQueue: a client that hangs up while it waits for a slot
// leaves the queue at once; whoever stands behind moves up.
func TestHangUpInTheQueue(t *testing.T) {
	cost := 15 // all that follows happens during one hash
	if raceEnabled {
		cost = 12
	}
	c := newCloud(t, harness.Options{Engine: "postgres"})
	d := c.again(func(c *conf.Config) {
		c.KeystoneGo.HashSlots, c.KeystoneGo.HashQueue = 1, 1
		c.Identity.PasswordHashRounds = &cost // of dummies; the stored hashes are cheap
	})
	server := httptest.NewServer(d.Handler)
	defer server.Close()
	until := func(what string, ok func(passhash.Stats) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(d.Hasher.Stats()); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %+v", what, d.Hasher.Stats())
			}
		}
	}
	held := make(chan int, 1)
	go func() { held <- d.try("nobody", "x", "p1").Status }()
	until("the slot is taken", func(s passhash.Stats) bool { return s.Running == 1 })

	ctx, hangUp := context.WithCancel(t.Context())
	body := `{"auth":{"identity":{"methods":["password"],"password":{"user":{"id":"` + c.ids["ana"] + `","password":"wrong"}}}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v3/auth/tokens", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	gone := make(chan error, 1)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		gone <- err
	}()
	until("one waits", func(s passhash.Stats) bool { return s.Waiting == 1 })
	d.status("the queue is full", d.try("ana", "ana-pw", "p1"), 503)
	hangUp()
	if err := <-gone; err == nil {
		t.Error("the client got an answer")
	}
	until("it left the queue", func(s passhash.Stats) bool { return s.Waiting == 0 })
	if s := d.Hasher.Stats(); s.Running != 1 || s.Done != 0 {
		t.Errorf("it left only when the slot was free: %+v", s)
	}
	d.status("its place is free", d.try("ana", "ana-pw", "p1"), 201)
	if status := <-held; status != 401 {
		t.Errorf("whoever had the slot: %d", status)
	}
	if s := d.Hasher.Stats(); s.Done != 2 || s.Refused != 1 {
		t.Errorf("%+v, want 2 hashes and 1 refusal", s)
	}
	if n := c.account("ana").FailedAuthCount; n != 0 {
		t.Errorf("%d failures of a password that nobody looked at", n)
	}
}
