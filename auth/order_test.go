package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// ledger is the store of a limiter: it notes what it is asked.
type ledger struct {
	takes, refunds int
	keys           map[ratelimit.Key]bool
	refuse         bool
}

func (l *ledger) Take(_ context.Context, k ratelimit.Key, _ int64) (ratelimit.Decision, error) {
	l.takes++
	l.keys[k] = true
	return ratelimit.Decision{Allowed: !l.refuse, Retry: 3 * time.Second}, nil
}

func (l *ledger) Refund(context.Context, ratelimit.Key, int64) error { l.refunds++; return nil }
func (l *ledger) Len() int                                           { return len(l.keys) }
func (l *ledger) Close()                                             {}

func newLedger() *ledger { return &ledger{keys: map[ratelimit.Key]bool{}} }

// order is a stand that can tell what a login did, and in how many round trips
// it wrote.
type order struct {
	*stand
	limits  *ledger // of the limiter by user
	decoys  *ledger // of the one for names that nobody has
	around  *ledger // of the one by address
	guesses *guess.Guard
	// byAddress switches the limit by address on, which needs one.
	byAddress func()
	mu        sync.Mutex
	writes    []int // of each round trip that had any
}

// did is what a login did.
type did struct {
	hashes, dummies, takes, refunds, writes int
	decoys                                  int
}

func eachOrder(t *testing.T, f func(o *order)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		o := &order{limits: newLedger(), decoys: newLedger(), around: newLedger()}
		watched := db.Watch(d, func(e db.Event) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if e.Writes > 0 {
				o.writes = append(o.writes, e.Writes)
			}
		})
		limiter := func(name string, l *ledger) *ratelimit.Limiter {
			limit, err := ratelimit.New(ratelimit.Spec{Name: name, Quota: ratelimit.Quota{Rate: 1, Period: time.Second, Burst: 1}},
				func(ratelimit.Spec) (ratelimit.Store, error) { return l, nil })
			if err != nil {
				t.Fatal(err)
			}
			return limit
		}
		o.guesses = &guess.Guard{
			Limits: guess.Limits{User: limiter("user", o.limits), Decoy: limiter("decoy", o.decoys)},
			Memory: guess.NewMemory(guess.Sizes{}, nil),
		}
		o.stand = newStand(t, watched, world{attempts: ptr(3), duration: time.Hour, guesses: o.guesses})
		o.byAddress = func() { o.guesses.Address = limiter("address", o.around) }
		f(o)
	})
}

// expect runs a login and holds what it did and answered against what it should.
func (o *order) expect(what, text, answer string, want did) {
	o.Helper()
	o.quiet()
	for _, l := range []*ledger{o.limits, o.decoys, o.around} {
		*l = ledger{keys: map[ratelimit.Key]bool{}, refuse: l.refuse}
	}
	o.writes = nil
	_, err := o.try(text)
	if got := message(err); got != answer {
		o.Errorf("%s: answer %q, want %q", what, got, answer)
	}
	got := did{int(o.hash.verified.Load()), int(o.hash.dummies.Load()), o.limits.takes, o.limits.refunds, o.db.Writes, o.decoys.takes}
	if got != want {
		o.Errorf("%s: did %+v, want %+v", what, got, want)
	}
}

// lastSeen says when a user was last there: today or another day.
func (o *order) lastSeen(name string, days int) {
	o.Helper()
	o.exec(`update "user" set last_active_at = $1 where id = $2`, noon.AddDate(0, 0, -days).Format(time.DateOnly), o.ids[name])
}

// TestOrderBadScope: a scope that cannot be had costs what a login costs, and
// nothing else is asked, counted or charged, also with the right password.
func TestOrderBadScope(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.failures("ben", 3, noon)
		for _, scope := range []string{
			`{"project": {"id": "none"}}`, `{"project": {"id": "poff"}}`, `{"project": {"id": "pinoff"}}`, `{"project": {"id": "default"}}`,
			`{"project": {"name": "p1", "domain": {"id": "none"}}}`, `{"project": {"name": "pinoff", "domain": {"name": "Off"}}}`,
			`{"domain": {"id": "none"}}`, `{"domain": {"name": "Off"}}`, `{"domain": {"id": "p1"}}`, `{"OS-TRUST:trust": {"id": "t"}}`,
			`{"project": {"id": "a\u0000b"}}`,
		} {
			for _, user := range []string{o.ids["ana"], o.ids["ben"], o.ids["cyd"], "nobody"} {
				o.expect("scope "+scope, byPassword(user, "ana", scope), bare, did{dummies: 1})
			}
		}
	})
}

// TestOrderUnknownUser: nobody costs one hash, and is a key of the decoy, never
// of the limiter of users. What he is told, and in how many round trips, is what
// a user is told.
func TestOrderUnknownUser(t *testing.T) {
	eachOrder(t, func(o *order) {
		for _, user := range []string{
			`"id": "nobody"`, `"id": "a\u0000b"`, `"id": "nobody", "name": "nobody", "domain": {"id": "default"}`,
			`"name": "` + dbtest.Apart(o.stand.db, "Ana", "anna") + `", "domain": {"id": "default"}`, `"name": "ana", "domain": {"id": "none"}`, `"name": "ana", "domain": {"name": "none"}`,
			`"name": "fay", "domain": {"id": "default"}`, `"name": "a\u0000b", "domain": {"name": "Default"}`,
		} {
			o.expect("user "+user, login(`"methods": ["password"], "password": {"user": {`+user+`, "password": "ana"}}`, onP1), bare, did{dummies: 1, decoys: 1})
			if len(o.decoys.keys) != 1 || len(o.limits.keys) != 0 {
				o.Errorf("user %s: %d keys of the decoy, %d of users", user, len(o.decoys.keys), len(o.limits.keys))
			}
		}
	})
}

// TestOrderUserLimit: over the limit by user, no hash is made and nothing is
// written, whatever the password.
func TestOrderUserLimit(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.limits.refuse = true
		for _, password := range []string{"ana", "wrong"} {
			o.expect("password "+password, byPassword(o.ids["ana"], password, onP1), "429 "+ratelimit.Refusal, did{takes: 1})
		}
		o.limits.refuse = false
		o.expect("allowed again", byPassword(o.ids["ana"], "wrong", onP1), bare, did{hashes: 1, takes: 1, writes: 1})
	})
}

// TestOrderLimitKey: one user is one key however he is named, another is
// another.
func TestOrderLimitKey(t *testing.T) {
	eachOrder(t, func(o *order) {
		for _, user := range []string{`"id": "` + o.ids["ana"] + `"`, `"name": "ana", "domain": {"id": "default"}`, `"name": "ana", "domain": {"name": "Default"}`} {
			if _, err := o.try(login(`"methods": ["password"], "password": {"user": {`+user+`, "password": "ana"}}`, onP1)); err != nil {
				o.Errorf("login of %s: %v", user, err)
			}
		}
		if len(o.limits.keys) != 1 {
			o.Errorf("one user by three names is %d keys", len(o.limits.keys))
		}
		_, _ = o.try(byPassword(o.ids["ben"], "wrong", unscoped))
		if len(o.limits.keys) != 2 {
			o.Errorf("two users are %d keys", len(o.limits.keys))
		}
	})
}

// TestOrderLocked: a locked account costs one hash; its password is not looked
// at, and nothing is counted.
func TestOrderLocked(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.failures("ana", 3, noon)
		for _, password := range []string{"ana", "wrong"} {
			o.expect("password "+password, byPassword(o.ids["ana"], password, onP1), bare, did{dummies: 1, takes: 1})
		}
	})
}

// TestOrderWrong: one hash, and one write that counts.
func TestOrderWrong(t *testing.T) {
	eachOrder(t, func(o *order) {
		for range 3 {
			o.expect("wrong password", byPassword(o.ids["ana"], "wrong", onP1), bare, did{hashes: 1, takes: 1, writes: 1})
		}
		o.expect("the fourth", byPassword(o.ids["ana"], "wrong", onP1), bare, did{dummies: 1, takes: 1})
	})
}

// TestOrderRightToday: nothing is written for a user who was there today and
// has no failures.
func TestOrderRightToday(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.lastSeen("ana", 0)
		for _, scope := range []string{onP1, onFar, onSystem, unscoped, ""} {
			o.expect("scope "+scope, byPassword(o.ids["ana"], "ana", scope), "", did{hashes: 1, takes: 1, refunds: 1})
		}
		if o.db.RoundTrips != 2 {
			o.Errorf("%d round trips, want 2", o.db.RoundTrips)
		}
	})
}

// TestOrderRight: what there is to write goes in one batch of at most two.
func TestOrderRight(t *testing.T) {
	eachOrder(t, func(o *order) {
		for _, tt := range []struct {
			name     string
			days     int
			failures int
			writes   int
		}{{"not there today", 1, 0, 1}, {"failures", 0, 2, 1}, {"both", 1, 2, 2}} {
			o.lastSeen("ana", tt.days)
			o.failures("ana", tt.failures, noon)
			o.expect(tt.name, byPassword(o.ids["ana"], "ana", onP1), "", did{hashes: 1, takes: 1, refunds: 1, writes: tt.writes})
			if len(o.writes) != 1 || o.db.RoundTrips > 3 {
				o.Errorf("%s: written in %v, %d round trips", tt.name, o.writes, o.db.RoundTrips)
			}
			a, err := db.One(o.Context(), o.db, identity.AccountByID(o.ids["ana"]))
			o.must(err)
			if a.FailedAuthCount != 0 || tt.failures > 0 && a.FailedAuthAt != nil || a.LastActiveAt == nil || !a.LastActiveAt.Equal(noon.Truncate(24*time.Hour)) {
				o.Errorf("%s: left %d failures at %v, last active at %v", tt.name, a.FailedAuthCount, a.FailedAuthAt, a.LastActiveAt)
			}
		}
	})
}

// TestOrderOneHash: whoever is refused has cost exactly one hash and sees one
// answer.
func TestOrderOneHash(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.failures("ben", 3, noon)
		o.exec(`insert into "user" (id, extra, enabled, domain_id) values ('ldap', '{}', $1, 'default')`, true)
		o.exec(`insert into nonlocal_user (domain_id, name, user_id) values ('default', 'ldap', 'ldap')`)
		o.exec(`insert into "user" (id, extra, enabled, domain_id) values ('bare', '{}', $1, 'default')`, true)
		o.exec(`insert into local_user (user_id, domain_id, name) values ('bare', 'default', 'bare')`)
		byName := func(domain string) string {
			return login(`"methods": ["password"], "password": {"user": {"name": "ana", "domain": `+domain+`, "password": "ana"}}`, onP1)
		}
		for what, text := range map[string]string{
			"unknown domain":    byName(`{"id": "none"}`),
			"disabled domain":   byPassword(o.ids["oli"], "oli", unscoped),
			"unknown user":      byPassword("nobody", "ana", onP1),
			"wrong":             byPassword(o.ids["ana"], "wrong", onP1),
			"locked":            byPassword(o.ids["ben"], "ben", unscoped),
			"disabled":          byPassword(o.ids["cyd"], "cyd", unscoped),
			"no password sent":  login(`"methods": ["password"], "password": {"user": {"id": "`+o.ids["fay"]+`"}}`, unscoped),
			"no password kept":  byPassword("bare", "x", unscoped),
			"of another source": byPassword("ldap", "x", unscoped),
			"empty":             byPassword(o.ids["ana"], "", onP1),
			"over-long":         byPassword(o.ids["ana"], strings.Repeat("x", 5000), onP1),
			"unknown scope":     byPassword(o.ids["ana"], "ana", `{"project": {"id": "none"}}`),
		} {
			o.quiet()
			_, err := o.try(text)
			if got := message(err); got != bare {
				o.Errorf("%s: answer %q, want %q", what, got, bare)
			}
			if n := o.hash.verified.Load() + o.hash.dummies.Load(); n != 1 {
				o.Errorf("%s: %d hashes, want 1", what, n)
			}
		}
	})
}

// TestOrderStrict: under strict_password_check a password that is too long is
// a 403 for everybody, before the user is looked at.
func TestOrderStrict(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.hash.max = 10
		long := strings.Repeat("x", 11)
		for _, user := range []string{o.ids["ana"], o.ids["cyd"], "nobody"} {
			o.expect("user "+user, byPassword(user, long, onP1), "403 too long", did{})
		}
	})
}

// TestOrderNoPassword: a login without a password, and one of a user who has
// none, count as failures (keystone/identity/backends/sql.py authenticate).
func TestOrderNoPassword(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.update("ben", identity.Change{Password: ptr[*string](nil)})
		for user, text := range map[string]string{
			"ana": login(`"methods": ["password"], "password": {"user": {"id": "`+o.ids["ana"]+`"}}`, unscoped),
			"ben": byPassword(o.ids["ben"], "ben", unscoped),
		} {
			o.expect(user, text, bare, did{dummies: 1, takes: 1, writes: 1})
			a, err := db.One(o.Context(), o.db, identity.AccountByID(o.ids[user]))
			if o.must(err); a.FailedAuthCount != 1 {
				o.Errorf("%s: %d failures, want 1", user, a.FailedAuthCount)
			}
		}
	})
}

var _ ratelimit.Store = (*ledger)(nil)
