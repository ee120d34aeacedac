package v3

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/resource"
)

// projectTags serves /v3/projects/{project_id}/tags (keystone/api/projects.py).
type projectTags struct{ projects }

func (h projectTags) routes() []Route {
	const all, one = "/v3/projects/{project_id}/tags", "/v3/projects/{project_id}/tags/{value}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_project_tags", Target: h.target, Do: h.list, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "List a project's tags"},
		{Method: "PUT", Path: all, Rule: "identity:update_project_tags", Body: &sentTags, Target: h.target, Do: h.put, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "Set a project's tags"},
		{Method: "DELETE", Path: all, Rule: "identity:delete_project_tags", Target: h.target, Do: h.clear, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "Take all tags from a project"},
		{Method: "GET", Path: one, Rule: "identity:get_project_tag", Target: h.target, Do: h.check, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "Whether a project has a tag", Status: http.StatusNoContent},
		{Method: "PUT", Path: one, Rule: "identity:create_project_tag", Target: h.target, Do: h.add, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "Add a tag to a project", Status: http.StatusCreated},
		{Method: "DELETE", Path: one, Rule: "identity:delete_project_tag", Target: h.target, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "project_tags", Summary: "Take a tag from a project"},
	}
}

// sentTags is what is asked of a list before the caller is known: that it is
// not too long and names none twice is asked after the rule, as in Python.
var sentTags = shape{key: "tags", alone: true, optional: true, bare: true, fields: []field{{name: "tags", kind: array, fields: tagList.fields}}}

func (h projectTags) list(c *Call) (Reply, error) {
	return h.show(c, c.Object.(resource.Record).TagNames()), nil
}

func (h projectTags) show(c *Call, names []string) Reply {
	return Reply{Status: http.StatusOK, Body: pyjson.Object{
		{Key: "tags", Value: names},
		{Key: "links", Value: member("self", c.here())},
	}}
}

// here is what Python calls the address of a list of tags: that of the API,
// with the query.
func (c *Call) here() string {
	self := c.base + "/v3"
	if q := c.r.URL.RawQuery; q != "" {
		self += "?" + q
	}
	return self
}

func (h projectTags) put(c *Call) (Reply, error) {
	v, _ := c.JSON().Get("tags")
	if err := tagList.check(v); err != nil {
		return Reply{}, err
	}
	c.tell(projectChanged(c.Object.(resource.Record), true)...)
	names := texts(v)
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if err := h.SetTags(c.Ctx(), c.Param("project_id"), names); err != nil {
		return Reply{}, err
	}
	return h.show(c, names), nil
}

func (h projectTags) clear(c *Call) (Reply, error) {
	c.tell(projectChanged(c.Object.(resource.Record), true)...)
	return noContent(), h.SetTags(c.Ctx(), c.Param("project_id"), nil)
}

func (h projectTags) check(c *Call) (Reply, error) {
	name := c.Param("value")
	if !slices.Contains(c.Object.(resource.Record).TagNames(), name) {
		return Reply{}, fault.NoSuch("project tag", name)
	}
	return noContent(), nil
}

func (h projectTags) add(c *Call) (Reply, error) {
	id, name := c.Param("project_id"), c.Param("value")
	if err := tagList.check(anys(append(c.Object.(resource.Record).TagNames(), name))); err != nil {
		return Reply{}, err
	}
	c.tell(projectChanged(c.Object.(resource.Record), true)...)
	c.tell(notify.Change{Operation: notify.Created, Kind: "project tag", ID: strings.TrimSpace(name)})
	if err := h.AddTag(c.Ctx(), id, strings.TrimSpace(name)); err != nil {
		return Reply{}, err
	}
	// Python's link lacks a part of the path.
	return Reply{Status: http.StatusCreated, Header: http.Header{"Location": {locationText(c.Link(id, "tags", name))}}}, nil
}

func (h projectTags) delete(c *Call) (Reply, error) {
	c.tell(projectChanged(c.Object.(resource.Record), true)...)
	c.tell(notify.Change{Operation: notify.Deleted, Kind: "project tag", ID: c.Param("value"), Nobody: true})
	return noContent(), h.RemoveTag(c.Ctx(), c.Param("project_id"), c.Param("value"))
}

// locationText writes an address as a header may hold it: with an escape for
// each byte that is neither a letter nor a sign with a meaning there.
func locationText(address string) string {
	var out strings.Builder
	for i := range len(address) {
		b := address[i]
		if b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)) || strings.IndexByte("-._~%!$&'()*+,/:;=?#@", b) >= 0) {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}
