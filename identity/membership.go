package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
)

// Membership is one that ends by itself, as federated logins make them.
type Membership struct {
	GroupID  string
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

// EndingCols and EndingFrom read memberships that end, as e: from when, and for
// how many minutes.
const (
	EndingCols = `e.last_verified, coalesce(i.authorization_ttl, 0)`
	EndingFrom = `expiring_user_group_membership e join identity_provider i on i.id = e.idp_id`
)

// GroupsOf gives the ids of the groups in which a user is for now, beside
// those in which he is for good.
func (m Memberships) GroupsOf(ctx context.Context, c db.Conn, userID string) ([]string, error) {
	all, err := db.All(ctx, c, db.Query[Membership]{
		Text: `select e.group_id, ` + EndingCols + ` from ` + EndingFrom + ` where e.user_id = $1 order by e.group_id`, Args: []any{userID},
		Scan: func(r db.Row) (x Membership, err error) { return x, r.Scan(&x.GroupID, &x.Verified, &x.Minutes) },
	})
	if err != nil {
		return nil, fmt.Errorf("read the memberships of user %s that end: %w", userID, err)
	}
	var out []string
	for _, x := range all {
		if m.Live(x) {
			out = append(out, x.GroupID)
		}
	}
	return out, nil
}
