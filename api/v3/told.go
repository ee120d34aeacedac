package v3

import (
	"net/http"

	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// operations are what a success of an audited row has done.
var operations = map[string]string{
	http.MethodPost: notify.Created, http.MethodPut: notify.Created, http.MethodPatch: notify.Updated, http.MethodDelete: notify.Deleted,
}

// tell adds changes that a request made beside the one that its row stands
// for. Others hear of them before that one, and only if the request succeeds.
func (c *Call) tell(changes ...notify.Change) {
	if c.notify.On() {
		c.changes = append(c.changes, changes...)
	}
}

// told tells others what became of a request that was handed to its row's Do.
func (c *Call) told(reply Reply, err error) {
	if !c.notify.On() || c.route.Audited == "" && c.changes == nil {
		return
	}
	if c.route.Audited == "role_assignment" {
		c.notify.Granted(c.Ctx(), c.grant(err != nil))
		return
	}
	if err != nil {
		return
	}
	changes := c.changes
	if kind := c.route.Audited; kind != "" {
		changes = append(changes, notify.Change{Operation: operations[c.route.Method], Kind: kind, ID: c.changedID(reply)})
	}
	c.notify.Changed(c.Ctx(), changes...)
}

// changedID is the id of what a row is about: the last argument of its path,
// and of what was made without one the id in the answer.
func (c *Call) changedID(reply Reply) string {
	if c.route.Method != http.MethodPost {
		names := c.echo.ParamNames()
		return c.Param(names[len(names)-1])
	}
	body, _ := reply.Body.(pyjson.Object)
	if len(body) == 0 {
		return ""
	}
	made, _ := body[0].Value.(pyjson.Object)
	id, _ := made.String("id")
	return id
}

// grant is the role of a path, given or taken. Below OS-INHERIT Python Keystone
// does not say by whom.
func (c *Call) grant(failed bool) notify.Grant {
	g := grantOf(c)
	out := notify.Grant{Operation: operations[c.route.Method], RoleID: g.RoleID, ProjectID: g.ProjectID, DomainID: g.DomainID, Inherited: g.Inherited, Nobody: g.Inherited, Failed: failed}
	if g.Group {
		out.GroupID = g.ID
	} else {
		out.UserID = g.ID
	}
	return out
}

// tellDomainGone tells of a domain that is gone, after all that went with it.
// The domain was a project as well.
func (c *Call) tellDomainGone(id string, with cascade.Contents) {
	for _, things := range []struct {
		kind string
		ids  []string
	}{{"project", with.Projects}, {"group", with.Groups}, {"user", with.Users}} {
		for _, one := range things.ids {
			c.tell(notify.Change{Operation: notify.Deleted, Kind: things.kind, ID: one, Nobody: true})
		}
	}
	c.tell(notify.Change{Operation: notify.Deleted, Kind: "project", ID: id}, notify.Change{Operation: notify.Deleted, Kind: "domain", ID: id})
}
