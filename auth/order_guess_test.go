package auth_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// TestOrderDecoyLimit: over the decoy's limit an unknown name costs what a user
// costs over his: no hash, no write, one round trip.
func TestOrderDecoyLimit(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.limits.refuse, o.decoys.refuse = true, true
		refused := "429 " + ratelimit.Refusal
		o.expect("a user", byPassword(o.ids["ana"], "ana", onP1), refused, did{takes: 1})
		trips, statements := o.db.RoundTrips, o.db.Statements
		for _, id := range []string{"nobody", "a\\u0000b"} {
			o.expect("id "+id, login(`"methods": ["password"], "password": {"user": {"id": "`+id+`", "password": "x"}}`, onP1), refused, did{decoys: 1})
			if id == "nobody" && (o.db.RoundTrips != trips || o.db.Statements != statements) {
				o.Errorf("%d round trips and %d statements, for a user %d and %d", o.db.RoundTrips, o.db.Statements, trips, statements)
			}
		}
	})
}

// TestOrderTogether: limits by user and by address are decided together, before
// the hash: what the one refuses is given back by the other, and whoever is
// right gets all back.
func TestOrderTogether(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.byAddress()
		from := func(user, password string) error {
			o.quiet()
			for _, l := range []*ledger{o.limits, o.decoys, o.around} {
				*l = ledger{keys: map[ratelimit.Key]bool{}, refuse: l.refuse}
			}
			r := o.parse(byPassword(user, password, onP1))
			r.Client.Addr = netip.MustParseAddr("198.51.100.7")
			_, err := o.auth.Authenticate(o.Context(), r)
			return err
		}
		refused := "429 " + ratelimit.Refusal
		o.around.refuse = true
		for user, l := range map[string]*ledger{o.ids["ana"]: o.limits, "nobody": o.decoys} {
			if err := from(user, "ana"); message(err) != refused {
				o.Errorf("%s: %q", user, message(err))
			}
			if l.takes != 1 || l.refunds != 1 || o.around.takes != 1 || o.hash.verified.Load()+o.hash.dummies.Load() != 0 || o.db.Writes != 0 {
				o.Errorf("%s: by user %+v, by address %+v", user, l, o.around)
			}
		}
		o.around.refuse = false
		o.must(from(o.ids["ana"], "ana"))
		if o.limits.refunds != 1 || o.around.refunds != 1 {
			o.Errorf("who was right got back %d by user, %d by address", o.limits.refunds, o.around.refunds)
		}
		if err := from(o.ids["ana"], "wrong"); message(err) != bare || o.limits.refunds+o.around.refunds != 0 {
			o.Errorf("who was wrong: %q, and got something back", message(err))
		}
		if err := o.authenticateWithout(); message(err) != "503 The service is busy. Try again later." {
			o.Errorf("without an address: %q", message(err))
		}
	})
}

// authenticateWithout is a login of which nobody knows from where it comes.
func (o *order) authenticateWithout() error {
	_, err := o.try(byPassword(o.ids["ana"], "ana", onP1))
	return err
}

// TestOrderBusy: a guess that the hashing gate turned away was none, and is
// given back.
func TestOrderBusy(t *testing.T) {
	eachOrder(t, func(o *order) {
		o.hash.fail = &passhash.Busy{RetryAfter: time.Second}
		for _, user := range []string{o.ids["ana"], o.ids["cyd"], "nobody"} {
			for _, l := range []*ledger{o.limits, o.decoys} {
				*l = ledger{keys: map[ratelimit.Key]bool{}}
			}
			_, err := o.try(byPassword(user, "x", onP1))
			if _, busy := errors.AsType[*passhash.Busy](err); !busy {
				o.Errorf("%s: got %v", user, err)
			}
			if takes, refunds := o.limits.takes+o.decoys.takes, o.limits.refunds+o.decoys.refunds; takes != 1 || refunds != 1 {
				o.Errorf("%s: %d charges, %d given back", user, takes, refunds)
			}
		}
	})
}

// TestOrderLockedMeanwhile: a right password in an account that other guesses
// have locked gets nothing back, so that nothing tells that it was right.
func TestOrderLockedMeanwhile(t *testing.T) {
	eachOrder(t, func(o *order) {
		for _, days := range []int{0, 1} {
			o.lastSeen("ana", days)
			for _, before := range []int{0, 2} {
				o.failures("ana", before, noon)
				o.hash.during = func() { o.failures("ana", 3, noon) }
				*o.limits = ledger{keys: map[ratelimit.Key]bool{}}
				if _, err := o.try(byPassword(o.ids["ana"], "ana", onP1)); message(err) != bare {
					o.Errorf("got %q", message(err))
				}
				if o.limits.takes != 1 || o.limits.refunds != 0 {
					o.Errorf("%d charges, %d given back", o.limits.takes, o.limits.refunds)
				}
				o.hash.during = nil
			}
		}
	})
}
