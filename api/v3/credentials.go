package v3

import (
	"context"

	"github.com/keystone-go/keystone-go/credential"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/hints"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Credentials are the stored credentials with what decides who may touch them.
type Credentials struct {
	credential.Credentials
	// Primary is [auth] additional_primary_auth_methods.
	Primary []string
	// CrossProject is [security_compliance]
	// allow_insecure_admin_trust_cross_project_credentials_access.
	CrossProject bool
}

// credentials serves /v3/credentials (keystone/api/credentials.py).
type credentials struct{ Credentials }

func (h credentials) routes() []Route {
	const all, one = "/v3/credentials", "/v3/credentials/{credential_id}"
	return []Route{
		{Method: "GET", Path: all, Rule: "identity:list_credentials", Other: "identity:get_credential", Query: &credentialQuery, Target: ownCredentials, Do: h.list, Limit: ratelimit.ClassToken, Rel: "credentials", Summary: "List stored credentials"},
		{Method: "POST", Path: all, Rule: "identity:create_credential", Body: &newCredential, Check: ec2NeedsProject, Target: aboutSent("credential"), Do: h.create, Limit: ratelimit.ClassToken, Rel: "credentials", Summary: "Store a credential", Audited: "credential"},
		{Method: "GET", Path: one, Rule: "identity:get_credential", Target: h.one().target, Do: h.show, Limit: ratelimit.ClassToken, Rel: "credential", Summary: "Show a stored credential"},
		{Method: "PATCH", Path: one, Rule: "identity:update_credential", Body: &changedCredential, Target: h.one().target, Do: h.update, Limit: ratelimit.ClassToken, Rel: "credential", Summary: "Change the secret of a stored credential"},
		{Method: "DELETE", Path: one, Rule: "identity:delete_credential", Target: h.one().target, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "credential", Summary: "Delete a stored credential", Audited: "credential"},
	}
}

func (h credentials) one() thing[credential.Credential] {
	return thing[credential.Credential]{name: "credential", get: h.Get, view: credentialView}
}

// Schemas of keystone/credential/schema.py, and the lengths of the columns.
var (
	credentialQuery = query{fields: []field{{name: "user_id"}, {name: "type"}}}
	newCredential   = shape{key: "credential", fields: []field{
		{name: "id"},
		{name: "blob", required: true, sealed: true},
		{name: "type", required: true, max: 255},
		{name: "user_id", required: true, max: 64},
		{name: "project_id", nullable: true, max: 64},
	}}
	changedCredential = shape{key: "credential", strict: true, fields: []field{{name: "blob", required: true, sealed: true}}}
)

// ec2NeedsProject is what the schema says of the type "ec2", in that case alone.
func ec2NeedsProject(c *Call) error {
	body := c.sent("credential")
	_, given := body.Get("project_id")
	if kind, _ := body.String("type"); kind == "ec2" && !given {
		return invalid("%q is a required property", "project_id")
	}
	return nil
}

// ownCredentials lets the rule of the list look at the caller, who sees his own
// where nothing lets him see more.
func ownCredentials(c *Call) (policy.Target, error) {
	if c.Caller.Scope() == "system" {
		return nil, nil
	}
	return policy.Target{"target.credential.user_id": c.Caller.User.ID}, nil
}

// direct refuses a caller who acts on another's behalf: what was handed on to
// him does not reach credentials, which are good for more.
func (h credentials) direct(c *Call, kind string) error {
	t := c.Caller.Token
	if t == nil || !t.Delegated(h.Primary) {
		return nil
	}
	if h.CrossProject && credential.IsEC2(kind) && c.may("admin_required", pathTarget(c)) == nil {
		return nil
	}
	return fault.ForbiddenAction("Delegated tokens cannot access credentials directly")
}

// own is the credential of the path, for who may touch it.
func (h credentials) own(c *Call) (credential.Credential, error) {
	v := c.Object.(credential.Credential)
	return v, h.direct(c, v.Type)
}

// ownAlone tells whether the caller sees his own credentials and no others: the
// rule is the one that lets owners through, and he is let through by nothing
// else. Then the others are not even read.
func ownAlone(c *Call) bool {
	return c.policy.Default(c.route.Other) && c.may(c.route.Other, nil) != nil
}

// list asks the rule of each credential before it is decrypted, and cuts the
// list behind that.
func (h credentials) list(c *Call) (Reply, error) {
	read := func(ctx context.Context, q hints.Hints) (hints.Page[credential.Credential], error) {
		q.Limited = false
		if ownAlone(c) {
			q.Filters = append(q.Filters, hints.Filter{Name: "user_id", Op: "equals", Value: c.Caller.User.ID})
		}
		p, err := h.List(ctx, q)
		if err != nil {
			return p, err
		}
		rows := p.Rows[:0]
		for _, v := range p.Rows {
			if c.may(c.route.Other, about("credential", credentialView(c, v))) != nil || h.direct(c, v.Type) != nil {
				continue
			}
			if v, err = h.Open(v); err != nil {
				return p, err
			}
			rows = append(rows, v)
		}
		p.Rows = rows
		return p, nil
	}
	return lists[credential.Credential]{key: "credentials", filters: []string{"user_id", "type"}, read: read, view: credentialView}.answer(c)
}

func (h credentials) create(c *Call) (Reply, error) {
	body := normalized(c.sent("credential"))
	n := credential.Credential{ID: uuid.Hex(), ProjectID: optional(body, "project_id"), Blob: optional(body, "blob"), Extra: credentialExtra(body)}
	n.Type, _ = body.String("type")
	n.UserID, _ = body.String("user_id")
	err := h.direct(c, n.Type)
	if err == nil && credential.IsEC2(n.Type) {
		n, err = n.Identify(behalf(c))
	}
	if err != nil {
		return Reply{}, err
	}
	return h.one().made(c, n, h.Create(c.Ctx(), n))
}

// behalf is what an EC2 key says of the delegation that it was made with, so
// that what is gained by it is no more.
func behalf(c *Call) pyjson.Object {
	t := c.Caller.Token
	if t == nil {
		return nil
	}
	var marks pyjson.Object
	for _, m := range []struct{ key, id string }{
		{"trust_id", t.TrustID}, {"app_cred_id", t.AppCredID}, {"access_token_id", t.AccessTokenID},
	} {
		if m.id != "" {
			marks = append(marks, pyjson.Member{Key: m.key, Value: m.id})
		}
	}
	return marks
}

func (h credentials) show(c *Call) (Reply, error) {
	v, err := h.own(c)
	if err == nil {
		v, err = h.Open(v)
	}
	return h.one().changed(c, v, err)
}

func (h credentials) update(c *Call) (Reply, error) {
	v, err := h.own(c)
	if err != nil {
		return Reply{}, err
	}
	blob, _ := c.sent("credential").String("blob")
	v, err = h.Update(c.Ctx(), v, blob)
	return h.one().changed(c, v, err)
}

func (h credentials) delete(c *Call) (Reply, error) {
	v, err := h.own(c)
	if err != nil {
		return Reply{}, err
	}
	return done(h.Delete(c.Ctx(), v.ID))
}

func credentialExtra(body pyjson.Object) pyjson.Object {
	return body.Without("id", "user_id", "project_id", "type", "blob", "encrypted_blob", "key_hash", "extra", "links")
}

// credentialView is a credential as answers show it, and rules without its
// blob, which is not decrypted then.
func credentialView(c *Call, v credential.Credential) pyjson.Object {
	columns := member("id", v.ID, "user_id", v.UserID, "project_id", v.ProjectID, "type", v.Type)
	if v.Blob != nil {
		columns = append(columns, pyjson.Member{Key: "blob", Value: *v.Blob})
	}
	return c.linked(shown(v.Extra, columns), "credentials", v.ID)
}
