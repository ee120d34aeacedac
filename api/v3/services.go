package v3

import (
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// services serves /v3/services (keystone/api/services.py).
type services struct{ catalog.Services }

func (h services) routes() []Route {
	const all, one = "/v3/services", "/v3/services/{service_id}"
	list := lists[catalog.Service]{key: "services", filters: []string{"type", "name"}, limit: h.Limit, read: h.List, view: serviceView}
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_services", Query: &serviceQuery, Do: list.answer, Limit: ratelimit.ClassToken, Rel: "services", Summary: "List services"},
		{Method: "POST", Path: all, Rule: "identity:create_service", Body: &newService, Do: h.create, Limit: ratelimit.ClassToken, Rel: "services", Summary: "Create a service", Audited: "service"},
		{Method: "GET", Path: one, Rule: "identity:get_service", Do: h.one().find, Limit: ratelimit.ClassToken, Rel: "service", Summary: "Show a service"},
		{Method: "PATCH", Path: one, Rule: "identity:update_service", Body: &changedService, Do: h.update, Limit: ratelimit.ClassToken, Rel: "service", Summary: "Change a service", Audited: "service"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_service", Do: h.delete, Limit: ratelimit.ClassToken, Rel: "service", Summary: "Delete a service and its endpoints", Audited: "service"},
	}
}

func (h services) one() thing[catalog.Service] {
	return thing[catalog.Service]{name: "service", get: h.Get, view: serviceView}
}

// find answers with an object at which no rule looks.
func (o thing[T]) find(c *Call) (Reply, error) {
	v, err := o.get(c.Ctx(), c.Param(o.name+"_id"))
	return o.changed(c, v, err)
}

// Schemas of keystone/catalog/schema.py.
var (
	serviceQuery = query{fields: []field{{name: "type"}, {name: "name"}}}
	newService   = shape{key: "service", optional: true, fields: []field{
		{name: "enabled", kind: boolean}, {name: "type", required: true, min: 1, max: 255}, {name: "name", min: 1, max: 255},
	}}
	changedService = shape{key: "service", least: 1, fields: []field{
		{name: "enabled", kind: boolean}, {name: "type", min: 1, max: 255}, {name: "name", min: 1, max: 255},
	}}
)

func (h services) create(c *Call) (Reply, error) {
	body, err := c.need("service")
	if err != nil {
		return Reply{}, err
	}
	body = normalized(body)
	s := catalog.Service{ID: uuid.Hex(), Type: optional(body, "type"), Enabled: flag(body, "enabled", true), Extra: serviceExtra(body)}
	if _, named := s.Extra.Get("name"); !named {
		s.Extra = s.Extra.Set("name", "")
	}
	return h.one().made(c, s, h.Create(c.Ctx(), s))
}

func (h services) update(c *Call) (Reply, error) {
	id, body := c.Param("service_id"), c.sent("service")
	if err := sameID(body, id); err != nil {
		return Reply{}, err
	}
	change := catalog.ServiceChange{Type: optional(body, "type"), Enabled: optionalFlag(body, "enabled"), Extra: serviceExtra(body)}
	s, err := h.Update(c.Ctx(), id, change)
	return h.one().changed(c, s, err)
}

func (h services) delete(c *Call) (Reply, error) {
	return done(h.Delete(c.Ctx(), c.Param("service_id")))
}

func serviceExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "type", "enabled", "extra", "links")
}

func serviceView(c *Call, s catalog.Service) pyjson.Object {
	return c.linked(shown(s.Extra, member("id", s.ID, "type", s.Type, "enabled", s.Enabled)), "services", s.ID)
}
