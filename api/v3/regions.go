package v3

import (
	"net/http"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// regions serves /v3/regions (keystone/api/regions.py).
type regions struct{ catalog.Regions }

func (h regions) routes() []Route {
	const all, one = "/v3/regions", "/v3/regions/{region_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_regions", Query: &regionQuery, Do: h.list, Limit: ratelimit.ClassToken, Rel: "regions", Summary: "List regions"},
		{Method: "POST", Path: all, Rule: "identity:create_region", Body: &newRegion, Do: h.create, Limit: ratelimit.ClassToken, Rel: "regions", Summary: "Create a region", Audited: "region"},
		{Method: "GET", Path: one, Rule: "identity:get_region", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: "region", Summary: "Show a region"},
		{Method: "PUT", Path: one, Rule: "identity:create_region", Body: &newRegion, Do: h.put, Limit: ratelimit.ClassToken, Rel: "region", Summary: "Create a region by its identifier", Status: http.StatusCreated, Audited: "region"},
		{Method: "PATCH", Path: one, Rule: "identity:update_region", Body: &changedRegion, Do: h.update, Limit: ratelimit.ClassToken, Rel: "region", Summary: "Change a region", Audited: "region"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_region", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "region", Summary: "Delete a region and those below it", Audited: "region"},
	}
}

func (h regions) one() thing[catalog.Region] {
	return thing[catalog.Region]{name: "region", get: h.Get, view: regionView}
}

// Schemas of keystone/catalog/schema.py; a new region's id alone may be empty.
var (
	regionQuery = query{strict: true, fields: []field{{name: "parent_region_id", min: 1, max: 255}}}
	newRegion   = shape{key: "region", fields: []field{
		{name: "id", nullable: true, max: 255},
		{name: "description", nullable: true, max: 255},
		{name: "parent_region_id", nullable: true, min: 1, max: 255},
	}}
	changedRegion = shape{key: "region", alone: true, least: 1, fields: []field{
		{name: "id", nullable: true, min: 1, max: 255},
		{name: "description", nullable: true, max: 255},
		{name: "parent_region_id", nullable: true, min: 1, max: 255},
	}}
)

// list is never cut: its schema refuses marker and limit, and Python Keystone
// forgets [catalog] list_limit here.
func (h regions) list(c *Call) (Reply, error) {
	asked, err := c.hints(0, "parent_region_id")
	if err != nil {
		return Reply{}, err
	}
	p, err := h.List(c.Ctx(), asked)
	if err != nil {
		return Reply{}, err
	}
	items := make([]pyjson.Object, len(p.Rows))
	for i, r := range p.Rows {
		items[i] = regionView(c, r)
	}
	return c.list("regions", items, nil, false), nil
}

func (h regions) create(c *Call) (Reply, error) {
	r := readRegion(c)
	if r.ID == "" {
		r.ID = uuid.Hex()
	}
	return h.one().made(c, r, h.Create(c.Ctx(), r))
}

func (h regions) put(c *Call) (Reply, error) {
	id, body := c.Param("region_id"), c.sent("region")
	if given, isGiven := body.Get("id"); isGiven && given != id {
		return Reply{}, fault.New(fault.BadRequest, `Conflicting region IDs specified: "%s" != "%s"`, id, python(given))
	}
	r := readRegion(c)
	r.ID = id
	return h.one().made(c, r, h.Create(c.Ctx(), r))
}

func (h regions) update(c *Call) (Reply, error) {
	id, body := c.Param("region_id"), c.sent("region")
	if err := sameID(body, id); err != nil {
		return Reply{}, err
	}
	ch := catalog.RegionChange{ParentID: change(body, "parent_region_id"), Extra: regionExtra(body)}
	if d, isGiven := body.Get("description"); isGiven {
		text, _ := d.(string)
		ch.Description = &text
	}
	r, err := h.Update(c.Ctx(), id, ch)
	return h.one().changed(c, r, err)
}

func (h regions) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("region_id")))
}

// readRegion reads a new region. Its keys lose the characters that Python
// Keystone cannot have in them (_normalize_dict in server/flask/common.py).
func readRegion(c *Call) catalog.Region {
	body := normalized(c.sent("region"))
	r := catalog.Region{ParentID: optional(body, "parent_region_id"), Extra: regionExtra(body)}
	r.ID, _ = body.String("id")
	r.Description, _ = body.String("description")
	return r
}

func regionExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "description", "parent_region_id", "links")
}

func regionView(c *Call, r catalog.Region) pyjson.Object {
	return c.linked(shown(r.Extra, member("id", r.ID, "description", r.Description, "parent_region_id", r.ParentID)), "regions", r.ID)
}

// python shows a value of a message as Python does.
func python(v any) string {
	if s, isText := v.(string); isText {
		return s
	}
	return "None"
}
