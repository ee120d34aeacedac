package v3

import (
	"context"
	"regexp"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/limit"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// projects serves /v3/projects (keystone/api/projects.py).
type projects struct {
	resource.Projects
	defaultDomain string // [identity] default_domain_id
	limits        limit.Limits
	memberships   identity.Memberships
}

func (h projects) routes() []Route {
	const all, one = "/v3/projects", "/v3/projects/{project_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_projects", Query: &projectQuery, Target: ownDomain("target.domain_id"), Do: h.list, Limit: ratelimit.ClassToken, Rel: "projects", Summary: "List projects"},
		{Method: "POST", Path: all, Rule: "identity:create_project", Body: &newProject, Target: aboutSent("project"), Do: h.create, Limit: ratelimit.ClassToken, Rel: "projects", Summary: "Create a project"},
		{Method: "GET", Path: one, Rule: "identity:get_project", Target: h.target, Do: h.get, Limit: ratelimit.ClassToken, Rel: "project", Summary: "Show a project"},
		{Method: "PATCH", Path: one, Rule: "identity:update_project", Body: &changedProject, Target: h.target, Do: h.update, Limit: ratelimit.ClassToken, Rel: "project", Summary: "Change a project"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_project", Target: h.target, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "project", Summary: "Delete a project"},
	}
}

// Schemas of keystone/resource/schema.py.
var (
	notBlank = regexp.MustCompile(`\S`)
	idText   = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)
	// uuidText is what oslo takes for a UUID.
	uuidText = regexp.MustCompile(`(?i)^(urn:)?(uuid:)?\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$`)
	tagText  = regexp.MustCompile(`^[^,/]*$`)

	tagList        = field{name: "tags", kind: array, max: 80, unique: true, fields: []field{{name: "tag", min: 1, max: 255, pattern: tagText}}}
	immutableField = field{name: "options", kind: object, strict: true, fields: []field{{name: "immutable", kind: boolean, nullable: true}}}

	newProject = shape{key: "project", alone: true, fields: []field{
		{name: "name", required: true, min: 1, max: 64, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "domain_id", nullable: true, min: 1, max: 64, pattern: idText},
		{name: "parent_id", nullable: true, min: 1, max: 64, pattern: idText},
		{name: "enabled", kind: loose},
		{name: "is_domain", kind: loose},
		tagList, immutableField,
	}}
	changedProject = shape{key: "project", alone: true, optional: true, fields: []field{
		{name: "name", min: 1, max: 64, pattern: notBlank},
		{name: "description", nullable: true},
		{name: "enabled", kind: loose},
		tagList, immutableField,
	}}
	projectQuery = query{fields: []field{
		{name: "domain_id", min: 1, max: 64, pattern: idText},
		{name: "enabled", kind: loose},
		{name: "name", min: 1, max: 64, pattern: notBlank},
		{name: "parent_id", pattern: uuidText},
		{name: "is_domain", kind: loose},
		{name: "tags"},
		{name: "tags-any"},
		{name: "not-tags"},
		{name: "not-tags-any"},
	}}
	projectFilters = []string{"domain_id", "enabled", "name", "parent_id", "is_domain"}
)

func (h projects) one() thing[resource.Record] {
	return thing[resource.Record]{name: "project", get: h.Get, view: projectView}
}

func (h projects) target(c *Call) (policy.Target, error) { return h.one().target(c) }

func (h projects) list(c *Call) (Reply, error) {
	f := resource.Filter{Tags: tagFilter(c), DomainID: c.scopedDomain()}
	read := func(ctx context.Context, q hints.Hints) (hints.Page[resource.Record], error) {
		if _, asked := c.query["is_domain"]; !asked {
			q.Filters = append(q.Filters, hints.Filter{Name: "is_domain", Op: "equals", Value: "0"})
		}
		return h.List(ctx, q, f)
	}
	return lists[resource.Record]{key: "projects", filters: projectFilters, limit: h.Limit, read: read, view: projectView}.answer(c)
}

func (h projects) get(c *Call) (Reply, error) {
	r := c.Object.(resource.Record)
	tree, err := h.tree(c, r)
	if err != nil {
		return Reply{}, err
	}
	return ok("project", append(projectView(c, r), tree...)), nil
}

func (h projects) create(c *Call) (Reply, error) {
	body := c.sent("project")
	n := resource.New{ID: uuid.Hex(), IsDomain: flag(body, "is_domain", false)}
	n.DomainID, _ = body.String("domain_id")
	n.ParentID, _ = body.String("parent_id")
	if n.DomainID == "" && !n.IsDomain {
		n.DomainID = c.homeDomain(h.defaultDomain)
	}
	if n.ParentID == "" {
		n.ParentID = n.DomainID
	}
	n.Change = projectChange(normalized(body))
	r, err := h.Create(c.Ctx(), n)
	kind := "project"
	if r.IsDomain {
		kind = "domain"
	}
	c.tell(notify.Change{Operation: notify.Created, Kind: kind, ID: r.ID})
	return h.one().made(c, r, err)
}

func (h projects) update(c *Call) (Reply, error) {
	before, body := c.Object.(resource.Record), c.sent("project")
	ch := projectChange(body)
	if err := samePlace(body, ch, before); err != nil {
		return Reply{}, err
	}
	r, err := h.Update(c.Ctx(), before.ID, ch)
	if err != nil {
		return Reply{}, err
	}
	c.tell(projectChanged(r, false)...)
	view := projectView(c, r)
	return ok("project", view.Set("extra", append(pyjson.Object{}, pyjson.ReadExtra(r.Extra)...))), nil
}

// samePlace refuses an update that would put a project elsewhere. Of an immutable
// one the domain alone is looked at first.
func samePlace(body pyjson.Object, ch resource.Change, p resource.Record) error {
	if err := sameID(body, p.ID); err != nil {
		return err
	}
	if v, given := body.Get("domain_id"); given && v != orNull(p.DomainID) {
		return fault.New(fault.BadRequest, "Cannot change Domain ID")
	}
	if err := p.AllowChange(ch.Option); err != nil {
		return err
	}
	if v, given := body.Get("parent_id"); given && v != orNull(p.ParentID) {
		return fault.New(fault.Forbidden, "Update of `parent_id` is not allowed.")
	}
	if v := optionalFlag(body, "is_domain"); v != nil && *v != p.IsDomain {
		return fault.New(fault.BadRequest, "Update of `is_domain` is not allowed.")
	}
	return nil
}

func (h projects) delete(c *Call) (Reply, error) {
	r := c.Object.(resource.Record)
	gone, err := h.Delete(c.Ctx(), r.ID)
	if r.IsDomain {
		c.tellDomainGone(r.ID, gone)
	} else {
		c.tell(notify.Change{Operation: notify.Deleted, Kind: "project", ID: r.ID})
	}
	return done(err)
}

// projectChanged is a change of a project, and of the domain that it may be.
func projectChanged(r resource.Record, nobody bool) []notify.Change {
	changes := []notify.Change{{Operation: notify.Updated, Kind: "project", ID: r.ID, Nobody: nobody}}
	if r.IsDomain {
		changes = append(changes, notify.Change{Operation: notify.Updated, Kind: "domain", ID: r.ID, Nobody: nobody})
	}
	return changes
}

// projectChange reads what a body sets of a project or a domain.
func projectChange(body pyjson.Object) resource.Change {
	ch := resource.Change{
		Name: optional(body, "name"), Description: change(body, "description"), Enabled: optionalFlag(body, "enabled"), Option: optionChange(body),
	}
	if v, given := body.Get("tags"); given {
		names := texts(v)
		ch.Tags = &names
	}
	ch.Extra = body.Without("id", "name", "domain_id", "parent_id", "is_domain", "enabled", "description", "tags", "options", "links", "extra", "explicit_domain_id")
	return ch
}

// texts are the strings of a list.
func texts(v any) []string {
	items, _ := v.([]any)
	out := make([]string, 0, len(items))
	for _, x := range items {
		if s, isText := x.(string); isText {
			out = append(out, s)
		}
	}
	return out
}
