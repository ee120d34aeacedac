package v3

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/keystone-go/keystone-go/internal/audit"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Own are what the rows work on that Python Keystone does not have.
type Own struct {
	Guard lockout.Guard
	Desk  LimitDesk
	Log   *slog.Logger // of what is audited
}

func (o Own) routes(d db.DB) []Route {
	return append(lockouts{o.Guard, d, o.Log}.routes(), rateLimits{o.Desk, o.Log}.routes()...)
}

// LimitDesk is where administrators see rate limits and give quotas back.
type LimitDesk interface {
	Limiters(ctx context.Context, top int) ([]ops.LimiterView, error)
	Standing(ctx context.Context, s ops.Subject) ([]ops.Standing, error)
	// Reset forgets what the subject owes, and names the limiters that were
	// asked to.
	Reset(ctx context.Context, s ops.Subject) ([]string, error)
}

// rateLimits serves the state of the limiters under policy. Python Keystone
// has no such calls.
type rateLimits struct {
	desk LimitDesk
	log  *slog.Logger
}

func (h rateLimits) routes() []Route {
	const path = "/v3/keystone-go/ratelimit"
	return []Route{
		{Method: "GET", Path: path, Rule: "keystone_go:get_ratelimit", Check: checkSubject, Do: h.get, Limit: ratelimit.ClassToken},
		{Method: "DELETE", Path: path, Rule: "keystone_go:reset_ratelimit", Check: checkReset, Do: h.reset, Limit: ratelimit.ClassToken},
	}
}

func checkSubject(c *Call) error {
	if _, err := ops.TopOf(c.Query("top")); err != nil {
		return fault.New(fault.BadRequest, "%s", err)
	}
	if a := c.Query("address"); a != "" {
		if _, err := netip.ParseAddr(a); err != nil {
			return fault.New(fault.BadRequest, "The query parameter address is no IP address.")
		}
	}
	if c.Query("name") != "" && c.Query("domain_id") == "" {
		return fault.New(fault.BadRequest, "The query parameter name needs domain_id.")
	}
	return nil
}

// checkReset also wants a subject: a call without one must not mean everybody.
func checkReset(c *Call) error {
	if subjectOf(c).Empty() {
		return fault.New(fault.BadRequest, "Name whose quota to give back by the query parameter user_id, address, or name and domain_id.")
	}
	return checkSubject(c)
}

func subjectOf(c *Call) ops.Subject {
	return ops.Subject{UserID: c.Query("user_id"), Name: c.Query("name"), DomainID: c.Query("domain_id"), Address: c.Query("address")}
}

func (h rateLimits) get(c *Call) (Reply, error) {
	top, err := ops.TopOf(c.Query("top"))
	if err != nil {
		return Reply{}, err
	}
	limiters, err := h.desk.Limiters(c.Ctx(), top)
	if err != nil {
		return Reply{}, err
	}
	body := pyjson.Object{{Key: "limiters", Value: limiters}}
	if s := subjectOf(c); !s.Empty() {
		list, err := h.desk.Standing(c.Ctx(), s)
		if err != nil {
			return Reply{}, err
		}
		body = append(body, pyjson.Member{Key: "standing", Value: list})
	}
	return ok("ratelimit", append(body, pyjson.Member{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Self()}}})), nil
}

func (h rateLimits) reset(c *Call) (Reply, error) {
	s := subjectOf(c)
	names, err := h.desk.Reset(c.Ctx(), s)
	kind, target := "user", s.UserID
	switch {
	case s.UserID == "" && s.Name != "":
		target = s.DomainID + "/" + s.Name
	case s.UserID == "" && s.Address != "":
		kind, target = "address", s.Address
	case s.Address != "":
		kind, target = "user and address", s.UserID+" "+s.Address
	}
	audit.Record(c.Ctx(), h.log, audit.Event{Action: audit.Reset, Kind: kind, Target: target, Err: err})
	if err != nil {
		return Reply{}, err
	}
	return ok("reset", pyjson.Object{{Key: "limiters", Value: names}}), nil
}
