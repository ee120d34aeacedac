package v3

import (
	"log/slog"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/audit"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// lockouts serves the accounts that failed logins have locked. Python Keystone
// has no such calls: there an administrator sees nothing, and unlocks by
// setting a new password.
type lockouts struct {
	guard lockout.Guard
	db    db.DB
	log   *slog.Logger
}

func (h lockouts) routes() []Route {
	const one = "/v3/users/{user_id}/lockout"
	return []Route{
		{Method: "GET", Path: "/v3/keystone-go/lockouts", Rule: "keystone_go:list_lockouts", Do: h.list, Limit: ratelimit.ClassToken},
		{Method: "GET", Path: one, Rule: "keystone_go:get_lockout", Target: h.target, Do: h.get, Limit: ratelimit.ClassToken},
		{Method: "DELETE", Path: one, Rule: "keystone_go:delete_lockout", Target: h.target, Do: h.unlock, Limit: ratelimit.ClassToken},
	}
}

// target loads the account that the rule looks at.
func (h lockouts) target(c *Call) (policy.Target, error) {
	a, err := h.guard.Of(c.Ctx(), h.db, c.Param("user_id"))
	if err != nil {
		return nil, err
	}
	c.Object = a
	t := policy.Target{}
	t.Add("target.user", map[string]any{"id": a.UserID, "domain_id": a.DomainID})
	return t, nil
}

func (h lockouts) list(c *Call) (Reply, error) {
	found, truncated, err := h.guard.List(c.Ctx(), h.db)
	if err != nil {
		return Reply{}, err
	}
	items := make([]pyjson.Object, len(found))
	for i, a := range found {
		items[i] = lockoutView(c, a)
	}
	return c.list("lockouts", items, nil, truncated), nil
}

func (h lockouts) get(c *Call) (Reply, error) {
	return ok("lockout", lockoutView(c, c.Object.(lockout.Account))), nil
}

func (h lockouts) unlock(c *Call) (Reply, error) {
	a := c.Object.(lockout.Account)
	err := h.guard.Unlock(c.Ctx(), h.db, a)
	audit.Record(c.Ctx(), h.log, audit.Event{Action: audit.Unlock, Kind: "user", Target: a.UserID, Err: err})
	if err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

func lockoutView(c *Call, a lockout.Account) pyjson.Object {
	return pyjson.Object{
		{Key: "user_id", Value: a.UserID},
		{Key: "domain_id", Value: a.DomainID},
		{Key: "name", Value: orNull(a.Name)},
		{Key: "locked", Value: a.Locked},
		{Key: "failures", Value: a.Failures},
		{Key: "last_failure_at", Value: timeOrNull(a.FailedAt)},
		{Key: "locked_until", Value: timeOrNull(a.Until)},
		{Key: "exempt", Value: a.Exempt},
		{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("users", a.UserID, "lockout")}}},
	}
}

func timeOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return auth.ISOMicro(*t)
}
