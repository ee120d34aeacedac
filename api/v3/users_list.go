package v3

import (
	"context"
	"slices"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// Schemas of keystone/identity/schema.py.
var (
	userQuery = query{fields: []field{
		{name: "domain_id", min: 1, max: 64, pattern: idText},
		{name: "enabled", kind: loose},
		{name: "idp_id"},
		{name: "name", min: 1, max: 255, pattern: notBlank},
		{name: "password_expires_at"},
		{name: "protocol_id"},
		{name: "unique_id"},
		sortDirection,
	}}
	userFilters = []string{"domain_id", "enabled", "name"}
	// federatedFilters are asked of identities, and no user shows them: a
	// comparator matches none.
	federatedFilters = []string{"idp_id", "protocol_id", "unique_id"}
)

func (h users) list(c *Call) (Reply, error) {
	f := identity.UserFilter{}
	for _, name := range federatedFilters {
		if v, asked := c.query[name]; asked {
			if f.Federated == nil {
				f.Federated = map[string]string{}
			}
			f.Federated[name] = v[0]
		}
	}
	return h.listWhere(c, f)
}

// listWhere answers a list of users; in a domain-scoped token's domain alone.
func (h users) listWhere(c *Call, f identity.UserFilter) (Reply, error) {
	f.DomainID = c.scopedDomain()
	for _, v := range c.query["password_expires_at"] {
		e, err := identity.ParseExpiry(v)
		if err != nil {
			return Reply{}, err
		}
		f.PasswordExpires = append(f.PasswordExpires, e)
	}
	filters := userFilters
	if f.GroupID == "" {
		filters = slices.Concat(userFilters, federatedFilters)
	}
	return lists[identity.Listed]{
		key: "users", filters: filters, limit: h.Limit, fixed: true,
		read: func(ctx context.Context, q hints.Hints) (hints.Page[identity.Listed], error) {
			q.Filters = slices.DeleteFunc(q.Filters, func(x hints.Filter) bool { return x.Op == "equals" && slices.Contains(federatedFilters, x.Name) })
			return h.List(ctx, q, f)
		},
		view: func(c *Call, l identity.Listed) pyjson.Object { return h.view(c, l.View()) },
	}.answer(c)
}

func (h users) one() thing[identity.View] {
	return thing[identity.View]{name: "user", get: h.Get, view: h.view}
}

func (h users) create(c *Call) (Reply, error) {
	body := normalized(c.sent("user"))
	domainID, _ := body.String("domain_id")
	if domainID == "" {
		domainID = c.homeDomain(h.defaultDomain)
	}
	ch, err := newUserChange(body)
	if err != nil {
		return Reply{}, err
	}
	u, err := h.Create(c.Ctx(), domainID, ch)
	return h.one().made(c, u, err)
}

// newUserChange reads a new user whose shape was checked.
func newUserChange(body pyjson.Object) (identity.Change, error) {
	before := identity.View{}
	before.Account.DomainID, _ = body.String("domain_id")
	return userChange(before, body.Without("id"))
}

func (h users) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("user_id")))
}

func (h users) groupsOf(c *Call) (Reply, error) {
	read := func(ctx context.Context, q hints.Hints) (hints.Page[identity.Joined], error) {
		p, err := h.groups.Of(ctx, c.Param("user_id"), q)
		if own := c.scopedDomain(); own != "" {
			p.Rows = slices.DeleteFunc(p.Rows, func(g identity.Joined) bool { return g.DomainID != own })
		}
		return p, err
	}
	view := func(c *Call, g identity.Joined) pyjson.Object {
		var until any
		if g.Until != nil {
			until = auth.ISOMicro(*g.Until)
		}
		o := groupView(c, g.Group)
		return slices.Insert(o, len(o)-1, pyjson.Member{Key: "membership_expires_at", Value: until}) // before its links
	}
	return lists[identity.Joined]{key: "groups", filters: []string{"name"}, limit: h.groups.Limit, fixed: true, read: read, view: view}.answer(c)
}

// projectsOf lists what the user has a role on; the filters are asked of the
// answer's members.
func (h users) projectsOf(c *Call) (Reply, error) {
	q, err := c.hints(0, "domain_id", "enabled", "name")
	if err != nil {
		return Reply{}, err
	}
	var b db.Batch
	found := assignment.ProjectsOf(&b, c.Param("user_id"), h.groups.Memberships)
	if err := h.DB.Send(c.Ctx(), &b); err != nil {
		return Reply{}, err
	}
	return collection(c, "projects", hints.Page[resource.Record]{Rows: found.All(), Rest: q.Filters}, q, projectView), nil
}

// view is a user as answers show him; who was idle for too long is shown as
// disabled, as he is treated.
func (h users) view(c *Call, v identity.View) pyjson.Object {
	v.Account.Enabled = v.Account.Active(h.Now(), h.IdleDays)
	return userView(c, v, false)
}
