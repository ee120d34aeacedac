package identity

import (
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Membership is one that ends by itself, as federated logins make them.
type Membership struct {
	Verified time.Time
	Minutes  int // that it lasts from then; 0: as is usual
}

// Memberships say when memberships end. What a database gives of them hangs on
// no clock, so that it may be remembered.
type Memberships struct {
	Now func() time.Time
	// Usual is [federation] default_authorization_ttl: how many minutes a
	// membership lasts whose identity provider says nothing.
	Usual int
}

// Until is when a membership ends.
func (m Memberships) Until(x Membership) time.Time {
	minutes := x.Minutes
	if minutes == 0 {
		minutes = m.Usual
	}
	return x.Verified.Add(time.Duration(minutes) * time.Minute)
}

// Live reports whether a membership has not ended.
func (m Memberships) Live(x Membership) bool { return m.Until(x).After(m.Now()) }

// Counts reports whether what hangs on a membership counts; nil is one that does
// not end.
func (m Memberships) Counts(x *Membership) bool { return x == nil || m.Live(*x) }

// EndingOf is what the columns EndingCols hold, nil where they are null and 0.
func EndingOf(verified *time.Time, minutes int) *Membership {
	if verified == nil {
		return nil
	}
	return &Membership{Verified: *verified, Minutes: minutes}
}

// EndingCols and EndingFrom read memberships that end, as e: from when, and for
// how many minutes.
const (
	EndingCols = `e.last_verified, coalesce(i.authorization_ttl, 0)`
	EndingFrom = `expiring_user_group_membership e join identity_provider i on i.id = e.idp_id`
)

// Joined queues the read of the groups in which a user is, for good or for now,
// and gives what tells their ids.
func (m Memberships) Joined(b *db.Batch, userID string) func() []string {
	type membership struct {
		group  string
		ending *Membership
	}
	all := db.Add(b, db.Query[membership]{
		Text: `select m.group_id, null, 0 from user_group_membership m where m.user_id = $1
union all
select e.group_id, ` + EndingCols + ` from ` + EndingFrom + ` where e.user_id = $1`,
		Args: []any{userID},
		Scan: func(r db.Row) (x membership, err error) {
			var verified *time.Time
			var minutes int
			err = r.Scan(&x.group, &verified, &minutes)
			x.ending = EndingOf(verified, minutes)
			return x, err
		},
	})
	return func() []string {
		var out []string
		for _, x := range all.All() {
			if m.Counts(x.ending) {
				out = append(out, x.group)
			}
		}
		return out
	}
}
