package lockout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
)

// Account is what an administrator is shown of a user's lockout.
type Account struct {
	UserID, DomainID, Name string
	State
	Locked bool
	// Until is when the lock runs out by itself; nil: not locked, or only an
	// administrator ends it.
	Until *time.Time
}

// MaxListed is the most accounts that List tells of.
const MaxListed = 1000

// ignoreLockout is the user option that exempts an account.
const ignoreLockout = "1002"

const accountCols = `l.id, u.id, u.domain_id, l.name, l.failed_auth_count, l.failed_auth_at,
  (select o.option_value from user_option o where o.user_id = u.id and o.option_id = '` + ignoreLockout + `')`

func (g Guard) scan(r db.Row) (Account, error) {
	var a Account
	var id, count *int64
	var name, exempt *string
	if err := r.Scan(&id, &a.UserID, &a.DomainID, &name, &count, &a.FailedAt, &exempt); err != nil {
		return a, err
	}
	if id != nil {
		a.LocalID = *id
	}
	if name != nil {
		a.Name = *name
	}
	if count != nil {
		a.Failures = int(*count)
	}
	a.Exempt = exempt != nil && *exempt == "true"
	a.Locked = g.Locked(a.State)
	if a.Locked && g.Policy.Duration > 0 && a.FailedAt != nil {
		until := a.FailedAt.Add(g.Policy.Duration)
		a.Until = &until
	}
	return a, nil
}

// Of tells how an account stands; a user whose password is kept elsewhere is
// never locked here.
func (g Guard) Of(ctx context.Context, c db.Conn, userID string) (Account, error) {
	a, err := db.One(ctx, c, db.Query[Account]{
		Text: `select ` + accountCols + ` from "user" u left join local_user l on l.user_id = u.id where u.id = $1`,
		Args: []any{userID}, Scan: g.scan,
	})
	if errors.Is(err, db.ErrNoRow) {
		return a, fault.NoSuch("user", userID)
	}
	return a, err
}

// List tells of the accounts that are locked now, the latest first, MaxListed
// at most; truncated says that there are more.
func (g Guard) List(ctx context.Context, c db.Conn) (list []Account, truncated bool, err error) {
	if g.Policy.Attempts == nil {
		return nil, false, nil
	}
	text := `select ` + accountCols + ` from local_user l join "user" u on u.id = l.user_id where l.failed_auth_count >= $1`
	args := []any{*g.Policy.Attempts}
	if g.Policy.Duration > 0 {
		text, args = text+` and l.failed_auth_at > $2`, append(args, g.Now().Add(-g.Policy.Duration))
	}
	text += ` and not exists (select 1 from user_option o where o.user_id = u.id and o.option_id = '` + ignoreLockout + `' and o.option_value = 'true')
order by l.failed_auth_at desc, u.id limit ` + fmt.Sprint(MaxListed+1)
	list, err = db.All(ctx, c, db.Query[Account]{Text: text, Args: args, Scan: g.scan})
	if len(list) > MaxListed {
		list, truncated = list[:MaxListed], true
	}
	return list, truncated, err
}

// Unlock forgets an account's failures, whether they lock it or not.
func (g Guard) Unlock(ctx context.Context, c db.Conn, a Account) error {
	if a.LocalID == 0 {
		return nil
	}
	if _, err := c.Exec(ctx, clearAll, 0, nil, a.LocalID); err != nil {
		return fmt.Errorf("unlock an account: %w", err)
	}
	return nil
}
