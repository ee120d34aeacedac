package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/isotime"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// UserFilter narrows a list beyond what hints say.
type UserFilter struct {
	// DomainID is that of a caller who sees his domain alone.
	DomainID string
	// GroupID lists the members of a group, which are not paged.
	GroupID string
	// Federated asks for users of other sources by the name of a column of
	// federated_user: idp_id, protocol_id, unique_id.
	Federated map[string]string
	// PasswordExpires asks when one of a user's passwords expires.
	PasswordExpires []Expiry
}

// Expiry compares the end of a password with a moment, by an operator of SQL.
type Expiry struct {
	Op string
	At time.Time
}

var expiryOps = map[string]string{"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}

// ParseExpiry reads `lt:2030-01-01T00:00:00Z`; without an operator it is
// equality. What is neither is a 400.
func ParseExpiry(text string) (Expiry, error) {
	op, at := "eq", text
	if len(text) > 3 && strings.Contains(text[2:4], ":") {
		op, at, _ = strings.Cut(text, ":")
	}
	moment, known := isotime.Parse(at)
	if !known {
		return Expiry{}, fault.New(fault.BadRequest, "Timestamp not in expected format. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
	}
	sql, known := expiryOps[op]
	if !known {
		return Expiry{}, fault.New(fault.BadRequest, "The given operator %s is not valid. It must be one of the following: 'eq', 'neq', 'lt', 'lte', 'gt', or 'gte'.", op)
	}
	return Expiry{Op: sql, At: moment}, nil
}

// Listed is a user of a list, which may be long: it holds no more than what is
// shown of him.
type Listed struct {
	id, name, domainID, project, extra string
	enabled                            bool
	created, seen                      *time.Time
	localID                            int64
	expires                            *time.Time // the current password
	options                            []Option
}

// View is what the API shows of the user.
func (l Listed) View() View {
	v := View{
		Account: Account{
			ID: l.id, Name: l.name, DomainID: l.domainID, Enabled: l.enabled, DefaultProjectID: l.project, Extra: l.extra,
			CreatedAt: l.created, LastActiveAt: l.seen, LocalID: l.localID, Password: Password{ExpiresAt: l.expires},
		},
		Options: OptionsFrom(l.options), Extra: pyjson.ReadExtra(l.extra),
	}
	v.Account.IgnoreInactivity = v.Options.On(OptionIgnoreInactivity)
	return v
}

// List returns a page of users by their ids, in one round trip; 404 when the
// marker, or the group, is none.
func (u Users) List(ctx context.Context, h hints.Hints, f UserFilter) (hints.Page[Listed], error) {
	rows, page := userSource(f).Query(h)
	var b db.Batch
	found := db.Add(&b, rows)
	within, args := f.among(h, "l.id")
	passwords := db.Add(&b, db.Query[expiry]{
		Text: `select p.local_user_id, p.id, p.created_at_int, p.expires_at_int, p.expires_at from password p where p.local_user_id in ` + within,
		Args: args, Scan: scanExpiry,
	})
	within, args = f.among(h, "u.id")
	options := db.Add(&b, optionsWhere(`o.user_id in `+within, args...))
	var marker *db.Result[string]
	if h.Marker != nil {
		marker = db.Add(&b, userExists(*h.Marker))
	}
	var group *db.Result[Group]
	if f.GroupID != "" {
		group = db.Add(&b, GroupByID(f.GroupID))
	}
	if err := u.DB.Send(ctx, &b); err != nil {
		if errors.Is(err, db.ErrBadValue) {
			return hints.Page[Listed]{}, nil
		}
		return hints.Page[Listed]{}, fmt.Errorf("list users: %w", err)
	}
	switch {
	case group != nil && len(group.All()) == 0:
		return hints.Page[Listed]{}, fault.NoSuch("group", f.GroupID)
	case marker != nil && len(marker.All()) == 0:
		return hints.Page[Listed]{}, fault.New(fault.NotFound, "Marker %s could not be found.", *h.Marker)
	}
	read := page.With(found.All(), h)
	complete(read.Rows, passwords.All(), options.All())
	return read, nil
}

// complete puts to users the ends of their current passwords and their options.
func complete(users []Listed, passwords []expiry, options []Option) {
	current := make(map[int64]expiry, len(passwords))
	for _, p := range passwords {
		if c, known := current[p.localID]; !known || p.newer(c) {
			current[p.localID] = p
		}
	}
	set := map[string][]Option{}
	for _, o := range options {
		set[o.UserID] = append(set[o.UserID], o)
	}
	for i := range users {
		users[i].expires, users[i].options = current[users[i].localID].expires, set[users[i].id]
	}
}
