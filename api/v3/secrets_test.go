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
