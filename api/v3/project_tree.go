package v3

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/resource"
)

// tree gives the members that `?parents_as_list` and its like add to a project.
// As lists they hold what the caller has a role on, as ids all there is.
func (h projects) tree(c *Call, r resource.Record) (pyjson.Object, error) {
	for _, what := range []string{"parents", "subtree"} {
		if c.QueryFlag(what+"_as_list") && c.QueryFlag(what+"_as_ids") {
			return nil, fault.New(fault.BadRequest, "Cannot use %[1]s_as_list and %[1]s_as_ids query params at the same time.", what)
		}
	}
	var out pyjson.Object
	if c.QueryFlag("parents_as_list") || c.QueryFlag("parents_as_ids") {
		found, err := h.Parents(c.Ctx(), r)
		if err != nil {
			return nil, err
		}
		if out, err = h.show(c, out, "parents", found, parentIDs(found)); err != nil {
			return nil, err
		}
	}
	if c.QueryFlag("subtree_as_list") || c.QueryFlag("subtree_as_ids") {
		found, err := h.Subtree(c.Ctx(), r.ID)
		if err != nil {
			return nil, err
		}
		if out, err = h.show(c, out, "subtree", found, childIDs(r.ID, found)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (h projects) show(c *Call, out pyjson.Object, what string, found []resource.Record, ids any) (pyjson.Object, error) {
	if !c.QueryFlag(what + "_as_list") {
		return out.Set(what, ids), nil
	}
	reached, err := h.reached(c)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r resource.Record) bool { return !reached[r.ID] })
	views, err := h.withLimits(c, found)
	if err != nil {
		return nil, err
	}
	list := []pyjson.Object{}
	for _, v := range views {
		list = append(list, pyjson.Object{{Key: "project", Value: v}})
	}
	return out.Set(what, list), nil
}

// withLimits shows projects, each with its limits where the query asks for
// `include_limits`.
func (h projects) withLimits(c *Call, list []resource.Record) ([]pyjson.Object, error) {
	out := views(c, list, projectView)
	if !c.QueryFlag("include_limits") || len(list) == 0 {
		return out, nil
	}
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	found, err := h.limits.OfProjects(c.Ctx(), ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		own := []pyjson.Object{}
		for _, l := range found[id] {
			own = append(own, bareLimit(l))
		}
		out[i] = out[i].Set("limits", own)
	}
	return out, nil
}

// reached are the projects that the caller has a role on.
func (h projects) reached(c *Call) (map[string]bool, error) {
	var b db.Batch
	found := assignment.ProjectIDsOf(&b, c.Caller.User.ID, h.memberships)
	if err := h.DB.Send(c.Ctx(), &b); err != nil {
		return nil, fmt.Errorf("list the projects of a user: %w", err)
	}
	return found(), nil
}

// parentIDs nests ids from the nearest to the farthest.
func parentIDs(line []resource.Record) any {
	if len(line) == 0 {
		return nil
	}
	return pyjson.Object{{Key: line[0].ID, Value: parentIDs(line[1:])}}
}

// childIDs nests the ids of a tree below an id.
func childIDs(id string, tree []resource.Record) any {
	var out pyjson.Object
	for _, r := range tree {
		if r.ParentID == id {
			out = append(out, pyjson.Member{Key: r.ID, Value: childIDs(r.ID, tree)})
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// tagFilter reads the filters for tags, each once.
func tagFilter(c *Call) resource.TagFilter {
	list := func(name string) []string {
		if v, given := c.query[name]; given {
			return strings.Split(v[0], ",")
		}
		return nil
	}
	return resource.TagFilter{All: list("tags"), Any: list("tags-any"), NotAll: list("not-tags"), NotAny: list("not-tags-any")}
}
