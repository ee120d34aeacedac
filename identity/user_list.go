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

// List returns a page of users by their ids, in one round trip; 404 when the
// marker, or the group, is none.
func (u Users) List(ctx context.Context, h hints.Hints, f UserFilter) (hints.Page[View], error) {
	rows, page := userSource(f).Query(h)
	ids, _ := userIDs(f).Query(h)
	within := `(select x.id from (` + ids.Text + `) x)`
	var b db.Batch
	found := db.Add(&b, rows)
	passwords := db.Add(&b, db.Query[Account]{
		Text: `select l.user_id, p.created_at_int, p.expires_at_int, p.expires_at from local_user l join password p on p.local_user_id = l.id
where l.user_id in ` + within + ` order by l.user_id, p.created_at_int desc, p.id desc`,
		Args: ids.Args, Scan: scanExpiry,
	})
	options := db.Add(&b, optionsWhere(`o.user_id in `+within, ids.Args...))
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
			return hints.Page[View]{}, nil
		}
		return hints.Page[View]{}, fmt.Errorf("list users: %w", err)
	}
	switch {
	case group != nil && len(group.All()) == 0:
		return hints.Page[View]{}, fault.NoSuch("group", f.GroupID)
	case marker != nil && len(marker.All()) == 0:
		return hints.Page[View]{}, fault.New(fault.NotFound, "Marker %s could not be found.", *h.Marker)
	}
	read := page.With(found.All(), h)
	return hints.Page[View]{
		Rows: views(read.Rows, passwords.All(), options.All()), Rest: read.Rest, Truncated: read.Truncated, Paged: read.Paged,
	}, nil
}

// views puts users together with their current passwords and options.
func views(users, passwords []Account, options []Option) []View {
	current := map[string]Password{}
	for _, p := range passwords {
		if _, newer := current[p.ID]; !newer {
			current[p.ID] = p.Password
		}
	}
	set := map[string][]Option{}
	for _, o := range options {
		set[o.UserID] = append(set[o.UserID], o)
	}
	out := make([]View, len(users))
	for i, a := range users {
		a.Password = current[a.ID]
		o := OptionsFrom(set[a.ID])
		a.IgnoreInactivity = o.On(OptionIgnoreInactivity)
		out[i] = View{Account: a, Options: o, Extra: pyjson.ReadExtra(a.Extra)}
	}
	return out
}
