package auth_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
)

// same compares JSON texts; the order of keys says nothing.
func same(t *testing.T, what, want, got string) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: the test's own JSON: %v", what, err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s: want -, got +\n%s", what, diff)
	}
}

// bodyOf is the token body that ana is shown at noon, with what a scope adds.
func bodyOf(s *stand, id *auth.Identity, expires, more string) string {
	return fmt.Sprintf(`{"methods": ["password"], "user": {"domain": {"id": "default", "name": "Default"}, "id": %q, "name": "ana", "password_expires_at": %s},
"audit_ids": [%q], "expires_at": "2026-11-30T13:00:00.000000Z", "issued_at": "2026-11-30T12:00:00.000000Z"%s}`, s.ids["ana"], expires, id.Token.AuditIDs[0], more)
}

const (
	roleReader  = `{"id": "r-reader", "name": "reader"}`
	roleMember  = `{"id": "r-member", "name": "member"}`
	projectBody = `, "project": {"domain": {"id": "default", "name": "Default"}, "id": "p1", "name": "p1"}, "is_domain": false, "roles": [` + roleMember + `, ` + roleReader + `]`
	serviceBody = `{"id": "s", "type": "identity", "name": "ks", "endpoints": %s}`
)

// TestBody is the body of every kind of token (keystone/common/render_token.py),
// on issue and on validation.
func TestBody(t *testing.T) {
	each(t, world{}, func(s *stand) {
		one := "RegionOne"
		s.exec(`insert into region (id, description, extra) values ('RegionOne', '', '{}')`)
		s.must(catalog.CreateService(s.Context(), s.db, catalog.Service{ID: "s", Type: new("identity"), Enabled: true, Extra: pyjson.Object{{Key: "name", Value: "ks"}}}))
		for _, e := range []catalog.Endpoint{
			{ID: "e1", URL: "https://x/$(project_id)s", RegionID: &one, Extra: pyjson.Object{{Key: "name", Value: "n"}, {Key: "description", Value: nil}, {Key: "url", Value: "no"}, {Key: "enabled", Value: "no"}, {Key: "service_id", Value: "no"}, {Key: "legacy_endpoint_id", Value: "no"}}},
			{ID: "e2", URL: "https://y/%(user_id)s"},
		} {
			e.ServiceID, e.Interface, e.Enabled = "s", "public", true
			s.must(catalog.CreateEndpoint(s.Context(), s.db, e))
		}
		e1 := `{"id": "e1", "interface": "public", "region_id": "RegionOne", "region": "RegionOne", "url": "https://x/p1", "name": "n", "description": null}`
		e2 := `{"id": "e2", "interface": "public", "region_id": null, "region": null, "url": "https://y/` + s.ids["ana"] + `"}`
		catalogOf := func(endpoints string) string {
			return `, "catalog": [` + fmt.Sprintf(serviceBody, `[`+endpoints+`]`) + `]`
		}
		for _, tt := range []struct{ scope, more string }{
			{unscoped, ""},
			{onSystem, `, "system": {"all": true}, "roles": [` + roleReader + `]` + catalogOf(e2)},
			{onFar, `, "domain": {"id": "` + far + `", "name": "Far"}, "roles": [` + roleReader + `]` + catalogOf(e2)},
			{onP1, projectBody + catalogOf(e1+", "+e2)},
		} {
			id := s.token("ana", tt.scope)
			same(s.T, "issued for "+tt.scope, bodyOf(s, id, "null", tt.more), pyjson.Encode(id.Body()))
			r := s.validate(auth.Check{Subject: id.ID, Catalog: true})
			s.must(r.SubjectErr)
			same(s.T, "validated for "+tt.scope, bodyOf(s, id, "null", tt.more), pyjson.Encode(r.Subject.Body()))
		}
	})
}

// TestBodyNoCatalog leaves the catalog out where it is not wanted; an empty one
// is an empty list.
func TestBodyNoCatalog(t *testing.T) {
	each(t, world{}, func(s *stand) {
		r := s.parse(byPassword(s.ids["ana"], "ana", onP1))
		r.Catalog = false
		id, err := s.auth.Authenticate(s.Context(), r)
		s.must(err)
		same(s.T, "not wanted", bodyOf(s, id, "null", projectBody), pyjson.Encode(id.Body()))
		id = s.token("ana", onP1)
		same(s.T, "empty", bodyOf(s, id, "null", projectBody+`, "catalog": []`), pyjson.Encode(id.Body()))
	})
}

// TestBodyProviders shows the service providers that are enabled, in every kind
// of token.
func TestBodyProviders(t *testing.T) {
	each(t, world{}, func(s *stand) {
		for id, enabled := range map[string]bool{"b": true, "a": true, "c": false} {
			s.exec(`insert into service_provider (id, auth_url, sp_url, enabled, relay_state_prefix) values ($1, 'https://auth', 'https://sp', $2, '')`, id, enabled)
		}
		more := `, "service_providers": [{"auth_url": "https://auth", "id": "a", "sp_url": "https://sp"}, {"auth_url": "https://auth", "id": "b", "sp_url": "https://sp"}]`
		id := s.token("ana", unscoped)
		same(s.T, "issued", bodyOf(s, id, "null", more), pyjson.Encode(id.Body()))
		r := s.validate(auth.Check{Subject: id.ID})
		same(s.T, "validated", bodyOf(s, id, "null", more), pyjson.Encode(r.Subject.Body()))
	})
}

// TestBodyPasswordExpires has microseconds and no Z.
func TestBodyPasswordExpires(t *testing.T) {
	each(t, world{}, func(s *stand) {
		at := noon.AddDate(0, 0, 90)
		s.exec(`update password set expires_at = $1, expires_at_int = $2`, at, at.UnixMicro())
		id := s.token("ana", unscoped)
		same(s.T, "issued", bodyOf(s, id, `"2027-02-28T12:00:00.123456"`, ""), pyjson.Encode(id.Body()))
	})
}

// TestBodyAdminProject is told where [resource] names a project and its domain,
// by exact names and for project scope alone.
func TestBodyAdminProject(t *testing.T) {
	for _, tt := range []struct {
		project, domain, want string
	}{
		{"p1", "Default", "true"}, {"p1", "default", "false"}, {"P1", "Default", "false"}, {"p2", "Default", "false"}, {"p1", "", ""}, {"", "Default", ""},
	} {
		t.Run(tt.project+"@"+tt.domain, func(t *testing.T) {
			each(t, world{Config: auth.Config{AdminProject: tt.project, AdminProjectDomain: tt.domain}}, func(s *stand) {
				more := ""
				if tt.want != "" {
					more = `, "is_admin_project": ` + tt.want
				}
				id := s.token("ana", onP1)
				same(s.T, "issued", bodyOf(s, id, "null", projectBody+`, "catalog": []`+more), pyjson.Encode(id.Body()))
				r := s.validate(auth.Check{Caller: id.ID})
				same(s.T, "validated", bodyOf(s, id, "null", projectBody+more), pyjson.Encode(r.Caller.Body()))
				if got := r.Caller.Credentials()["is_admin_project"]; got != (tt.want != "false") {
					s.Errorf("credentials: is_admin_project is %v", got)
				}
				if _, there := s.token("ana", onFar).Body().Get("is_admin_project"); there {
					s.Error("a domain token tells is_admin_project")
				}
			})
		})
	}
}

// TestCredentials are what rules may look at, by kind of token.
func TestCredentials(t *testing.T) {
	each(t, world{Config: auth.Config{AdminToken: "sesame"}}, func(s *stand) {
		base := func(set policy.Credentials) policy.Credentials {
			c := policy.Credentials{
				"user_id": s.ids["ana"], "user_domain_id": "default", "project_id": nil, "project_domain_id": nil, "domain_id": nil,
				"system_scope": nil, "roles": []string{"reader"}, "is_admin_project": true,
			}
			for k, v := range set {
				c[k] = v
			}
			return c
		}
		for scope, want := range map[string]policy.Credentials{
			unscoped: base(policy.Credentials{"roles": []string{}}),
			onSystem: base(policy.Credentials{"system_scope": "all", "system": "all"}),
			onFar:    base(policy.Credentials{"domain_id": far, "is_admin_project": false}),
			onP1:     base(policy.Credentials{"project_id": "p1", "project_domain_id": "default", "roles": []string{"member", "reader"}}),
		} {
			got := s.validate(auth.Check{Caller: s.token("ana", scope).ID}).Caller.Credentials()
			body, ok := got["token"].(json.Marshaler)
			if !ok {
				s.Fatalf("scope %s: token is a %T", scope, got["token"])
			}
			text, err := body.MarshalJSON()
			s.must(err)
			var fields struct {
				User struct{ Domain struct{ ID string } }
			}
			s.must(json.Unmarshal(text, &fields))
			if fields.User.Domain.ID != "default" {
				s.Errorf("scope %s: token.user.domain.id is %q", scope, fields.User.Domain.ID)
			}
			delete(got, "token")
			if diff := cmp.Diff(want, got); diff != "" {
				s.Errorf("scope %s: want -, got +\n%s", scope, diff)
			}
		}
		got := s.validate(auth.Check{Caller: "sesame"}).Caller.Credentials()
		if diff := cmp.Diff(policy.Credentials{policy.AdminToken: true}, got); diff != "" {
			s.Errorf("admin token: want -, got +\n%s", diff)
		}
	})
}

// TestServiceToken stands beside the caller's; one that is not valid is as good
// as none.
func TestServiceToken(t *testing.T) {
	each(t, world{}, func(s *stand) {
		s.grant("ben", "project p2", "admin")
		caller, service := s.token("ana", onP1).ID, s.token("ben", onP2).ID
		r := s.validate(auth.Check{Caller: caller, Service: service})
		c := r.Caller.Credentials()
		want := map[string]any{
			"service_user_id": s.ids["ben"], "service_user_domain_id": "default", "service_project_id": "p2",
			"service_project_domain_id": "default", "service_roles": []string{"admin", "member", "reader"}, "user_id": s.ids["ana"],
		}
		for k, v := range want {
			if !cmp.Equal(c[k], v) {
				s.Errorf("%s is %v, want %v", k, c[k], v)
			}
		}
		for what, no := range map[string]string{"nonsense": "nonsense", "empty": ""} {
			if r := s.validate(auth.Check{Caller: caller, Service: no}); r.Caller == nil || r.Caller.Service != nil || r.Refused != nil {
				s.Errorf("service token %s: %+v", what, r)
			}
		}
		s.exec(`delete from assignment where actor_id = $1`, s.ids["ben"])
		if r := s.validate(auth.Check{Caller: caller, Service: service}); r.Caller == nil || r.Caller.Service != nil || r.Refused != nil {
			s.Errorf("service token without a role left: %+v", r)
		}
	})
}
