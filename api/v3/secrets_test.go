package v3_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/policy"
)

// seen keeps what rules were let look at.
type seen struct{ targets []policy.Target }

func (s *seen) Enforce(_ context.Context, _ string, _ policy.Credentials, t policy.Target) error {
	s.targets = append(s.targets, t)
	return nil
}

func (s *seen) Default(string) bool { return false }

// Rules may ask a server elsewhere, so no secret of a body is shown to them.
func TestNoSecretReachesARule(t *testing.T) {
	const secret = "n0b0dy-may-see-this"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		rules := &seen{}
		st := newStand(t, setup{db: d, change: func(c *v3.Config) { c.Policy = rules }})
		for _, c := range []call{
			{method: "POST", path: "/v3/users", token: "tok-admin", body: `{"user": {"name": "ann", "password": "` + secret + `"}}`},
			{method: "PATCH", path: "/v3/users/none", token: "tok-admin", body: `{"user": {"name": "ann", "password": "` + secret + `"}}`},
			{method: "POST", path: "/v3/credentials", token: "tok-admin", body: `{"credential": {"type": "cert", "user_id": "u-admin", "blob": "` + secret + `"}}`},
			{method: "PATCH", path: "/v3/credentials/none", token: "tok-admin", body: `{"credential": {"blob": "` + secret + `"}, "beside": 1}`},
			{method: "POST", path: "/v3/groups", token: "tok-admin", body: `{"group": {"name": "g", "in": {"secret": "` + secret + `"}}}`},
		} {
			rules.targets = nil
			w := st.do(c)
			text := fmt.Sprint(rules.targets)
			if len(rules.targets) == 0 || !strings.Contains(text, "request_body") {
				t.Errorf("%s %s: %d, the rule saw %s", c.method, c.path, w.Code, text)
			}
			if strings.Contains(text, secret) {
				t.Errorf("%s %s: the rule saw the secret: %s", c.method, c.path, text)
			}
		}
	})
}

// What is stored as a secret is not shown to a rule either, when it is read.
func TestNoStoredSecretReachesARule(t *testing.T) {
	const secret = "n0b0dy-may-see-this"
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rules := &seen{}
		st := newStand(t, setup{db: d, change: func(c *v3.Config) { c.Policy = rules }})
		w := st.do(call{method: "POST", path: "/v3/credentials", token: "tok-admin", body: `{"credential": {"type": "cert", "user_id": "u-admin", "blob": "` + secret + `"}}`})
		_, id, _ := strings.Cut(w.Body.String(), `"id": "`)
		id, _, _ = strings.Cut(id, `"`)
		for _, c := range []call{
			{method: "GET", path: "/v3/credentials/" + id, token: "tok-admin"},
			{method: "GET", path: "/v3/credentials", token: "tok-admin"},
			{method: "PATCH", path: "/v3/credentials/" + id, token: "tok-admin", body: `{"credential": {"blob": "` + secret + `"}}`},
			{method: "DELETE", path: "/v3/credentials/" + id, token: "tok-admin"},
		} {
			rules.targets = nil
			w := st.do(c)
			text := fmt.Sprint(rules.targets)
			if w.Code >= 400 || !strings.Contains(text, "target.credential.type:cert") {
				t.Errorf("%s %s: %d, the rule saw %s", c.method, c.path, w.Code, text)
			}
			if strings.Contains(text, secret) {
				t.Errorf("%s %s: the rule saw the secret: %s", c.method, c.path, text)
			}
		}
		if strings.Contains(st.log.String(), secret) {
			t.Errorf("the log has the secret: %s", st.log)
		}
	})
}

// A key that is renamed does not take the place of the one that the rule saw.
func TestNormalizedBodies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		seedDomain(t, d)
		rules := &seen{}
		st := newStand(t, setup{db: d, change: func(c *v3.Config) { c.Policy = rules }})
		for _, c := range []struct{ path, body, rule, want string }{
			{"/v3/users", `{"user": {"name": "ann", "domain_id": "default", "domain-id": "other", "domain:id": "third"}}`, "target.user.domain_id:default", `"domain_id": "default"`},
			{"/v3/users", `{"user": {"domain-id": "other", "name": "bob", "domain_id": "default"}}`, "target.user.domain_id:default", `"domain_id": "default"`},
			{"/v3/users", `{"user": {"name": "cid", "domain-id": "default"}}`, "target.user.domain_id:default", `"domain_id": "default"`},
			{"/v3/groups", `{"group": {"name": "g", "domain_id": "default", "domain-id": "other"}}`, "target.group.domain_id:default", `"domain_id": "default"`},
			{"/v3/projects", `{"project": {"name": "p", "domain_id": "default", "domain-id": "other"}}`, "target.project.domain_id:default", `"domain_id": "default"`},
			{"/v3/roles", `{"role": {"name": "s", "domain-id": "default"}}`, "target.role.domain_id:default", `"domain_id": "default"`},
			{"/v3/roles", `{"role": {"name": "r", "domain_id": null, "domain-id": "default"}}`, "request_body.role.name:r", `"domain_id": null`},
		} {
			rules.targets = nil
			w := st.do(call{method: "POST", path: c.path, token: "tok-admin", body: c.body})
			if w.Code != 201 || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %d %s, want %s", c.body, w.Code, w.Body, c.want)
			}
			if text := fmt.Sprint(rules.targets); !strings.Contains(text, c.rule) {
				t.Errorf("%s: the rule saw %s, want %s", c.body, text, c.rule)
			}
		}
	})
}
