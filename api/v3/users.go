package v3

import (
	"errors"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// users serves /v3/users (keystone/api/users.py).
type users struct {
	identity.Users
	auth          *auth.Service
	groups        identity.Groups
	defaultDomain string // [identity] default_domain_id
}

func (h users) routes() []Route {
	const all, one = "/v3/users", "/v3/users/{user_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_users", Query: &userQuery, Target: ownDomain("target.domain_id"), Do: h.list, Limit: ratelimit.ClassToken, Rel: "users", Summary: "List users"},
		{Method: "POST", Path: all, Rule: "identity:create_user", Body: &newUser, Check: checkUser, Target: aboutSent("user"), Do: h.create, Limit: ratelimit.ClassToken, Rel: "users", Summary: "Create a user", Audited: "user"},
		{Method: "GET", Path: one, Rule: "identity:get_user", Target: h.one().target, Do: h.one().show, Limit: ratelimit.ClassToken, Rel: "user", Summary: "Show a user"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_user", Target: h.one().target, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "user", Summary: "Delete a user", Audited: "user"},
		{Method: "GET", Path: one + "/groups", Rule: "identity:list_groups_for_user", Query: &query{fields: []field{{name: "name"}}}, Target: h.one().target, Do: h.groupsOf, Limit: ratelimit.ClassToken, Rel: "user_groups", Summary: "List the groups of a user"},
		{Method: "GET", Path: one + "/projects", Rule: "identity:list_user_projects", Query: &query{fields: []field{{name: "domain_id"}, {name: "enabled"}, {name: "name"}}}, Target: h.one().target, Do: h.projectsOf, Limit: ratelimit.ClassToken, Rel: "user_projects", Summary: "List the projects that a user has a role on"},
		{Method: "PATCH", Path: "/v3/users/{user_id}", Rule: "identity:update_user", Body: &changedUser, Check: checkUser, Target: h.one().target, Do: h.update, Limit: ratelimit.ClassToken, Rel: "user", Audited: "user"},
		{Method: "POST", Path: "/v3/users/{user_id}/password", Rule: Open, Body: &passwordChange, Do: h.changePassword, Limit: ratelimit.ClassAuth, Rel: "user_change_password"},
	}
}

func (h users) update(c *Call) (Reply, error) {
	before := c.Object.(identity.View)
	body, _ := c.JSON().Object("user")
	change, err := userChange(before, body)
	if err != nil {
		return Reply{}, err
	}
	after, err := h.Update(c.Ctx(), before, change)
	if err != nil {
		return Reply{}, err
	}
	return ok("user", userView(c, after, true)), nil
}

func (h users) changePassword(c *Call) (Reply, error) {
	body, _ := c.JSON().Object("user")
	original, _ := body.String("original_password")
	password, _ := body.String("password")
	err := h.auth.ChangePassword(c.Ctx(), h.Users, auth.Change{
		UserID: c.Param("user_id"), Original: original, Password: password, Client: guess.Client{Addr: c.Addr, Exempt: c.Unlimited},
	})
	changed := notify.Change{Operation: notify.Updated, Kind: "user", ID: c.Param("user_id")}
	if f, _ := errors.AsType[*fault.Error](err); f != nil && f.Kind == fault.BadRequest {
		// What the rules refuse after a right password is told as a change, as
		// Python Keystone does.
		changed.Reason = &notify.Reason{Text: f.Message, Code: "400"}
		c.notify.Changed(c.Ctx(), changed)
	}
	if err != nil {
		return Reply{}, err
	}
	c.tell(changed)
	return noContent(), nil
}

// userView is a user as answers show him; nested repeats the extra attributes
// under one key, as Python does after an update.
func userView(c *Call, v identity.View, nested bool) pyjson.Object {
	a := v.Account
	body := append(make(pyjson.Object, 0, len(v.Extra)+9), v.Extra...)
	body = append(body,
		pyjson.Member{Key: "id", Value: a.ID},
		pyjson.Member{Key: "name", Value: orNull(a.Name)},
		pyjson.Member{Key: "domain_id", Value: a.DomainID},
		pyjson.Member{Key: "enabled", Value: a.Enabled})
	if a.DefaultProjectID != "" {
		body = append(body, pyjson.Member{Key: "default_project_id", Value: a.DefaultProjectID})
	}
	var expires any
	if a.Password.ExpiresAt != nil {
		expires = auth.ISOMicro(*a.Password.ExpiresAt)
	}
	body = append(body, pyjson.Member{Key: "password_expires_at", Value: expires})
	if nested {
		body = append(body, pyjson.Member{Key: "extra", Value: append(pyjson.Object{}, v.Extra...)})
	}
	options := pyjson.Object{}
	for _, o := range v.Options.Named() {
		options = append(options, pyjson.Member{Key: o.Name, Value: o.Value})
	}
	return append(body,
		pyjson.Member{Key: "options", Value: options},
		pyjson.Member{Key: "links", Value: pyjson.Object{{Key: "self", Value: c.Link("users", a.ID)}}})
}

// userChange reads an update of a user whose shape was checked.
func userChange(before identity.View, body pyjson.Object) (identity.Change, error) {
	var ch identity.Change
	for _, m := range body {
		switch m.Key {
		case "id":
			if m.Value != before.Account.ID {
				return ch, fault.New(fault.BadRequest, "Cannot change ID")
			}
		case "domain_id":
			if m.Value != before.Account.DomainID {
				return ch, fault.New(fault.BadRequest, "Cannot change Domain ID")
			}
		case "name":
			name := m.Value.(string)
			ch.Name = &name
		case "enabled":
			on := looseBool(m.Value)
			ch.Enabled = &on
		case "default_project_id":
			ch.DefaultProject = nullable(m.Value)
		case "password":
			ch.Password = nullable(m.Value)
		case "options":
			ch.Options = userOptions(m.Value.(pyjson.Object))
		case "links", "extra", "password_expires_at":
			// Shown by the server, never taken from a client.
		case "federated":
			if list, _ := m.Value.([]any); len(list) == 0 {
				continue // as if it were not there
			}
			return ch, fault.New(fault.NotImplemented, "Federated identities of a user cannot be set yet.")
		default:
			ch.Extra = append(ch.Extra, m)
		}
	}
	return ch, nil
}

func nullable(v any) **string {
	var p *string
	if s, ok := v.(string); ok {
		p = &s
	}
	return &p
}

func userOptions(o pyjson.Object) map[string]*string {
	set := map[string]*string{}
	for _, m := range o {
		id, known := identity.OptionID(m.Key)
		if !known {
			continue
		}
		if m.Value == nil {
			set[id] = nil
			continue
		}
		text := pyjson.Encode(m.Value)
		set[id] = &text
	}
	return set
}
