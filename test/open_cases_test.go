package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

// The tests TestO_nn are small stories of what real users met. What they need
// of rows that are not served yet is left out where it says so.

func TestO_01(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		discoveryIs300(c)
		a := c.Do(harness.Call{Method: "GET", Path: "/v3/", Header: map[string]string{"Accept": "application/json-home"}})
		c.status("json-home", a, 200)
		if a.Header.Get("Content-Type") != "application/json-home" || a.At(t, "resources") == nil {
			t.Errorf("%s: %.100s", a.Header.Get("Content-Type"), a.Body)
		}
	})
}

// TestO_02: behind a TLS proxy with a path. The list is of regions, since
// users are not served.
func TestO_02(t *testing.T) {
	proxied := map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "id.example.test", "X-Forwarded-Prefix": "/identity"}
	links := func(c *cloud) (root, list, region string) {
		token := c.Admin()
		get := func(path string) harness.Answer {
			return c.Do(harness.Call{Method: "GET", Path: path, Token: token, Header: proxied, From: "192.0.2.1:1"})
		}
		regions := get("/v3/regions")
		return fmt.Sprint(get("/").At(c.t, "versions", "values", 0, "links", 0, "href")),
			fmt.Sprint(regions.At(c.t, "links", "self")), fmt.Sprint(regions.At(c.t, "regions", 0, "links", "self"))
	}
	want := func(c *cloud, base string) {
		c.t.Helper()
		root, list, region := links(c)
		if root != base+"/v3/" || list != base+"/v3/regions" || region != base+"/v3/regions/RegionOne" {
			c.t.Errorf("links %s, %s, %s; want them below %s", root, list, region, base)
		}
	}
	parse := func(c *conf.Config) { c.OsloMiddleware.EnableProxyHeadersParsing = true }
	t.Run("asked for", func(t *testing.T) {
		eachCloud(t, parse, func(c *cloud) { want(c, "https://id.example.test/identity") })
	})
	t.Run("not asked for", func(t *testing.T) {
		// Host and path are the request's. Python Keystone believes the scheme
		// all the same, and so its clients.
		eachCloud(t, nil, func(c *cloud) { want(c, "https://keystone.test") })
	})
	t.Run("from a stranger", func(t *testing.T) {
		eachCloud(t, func(c *conf.Config) {
			parse(c)
			c.RateLimitTrustedProxies.TrustedProxies = []string{"10.0.0.0/24"}
		}, func(c *cloud) { want(c, "http://keystone.test") })
	})
}

// TestO_03: a method that is switched off names those that are on.
func TestO_03(t *testing.T) {
	six := func(c *conf.Config) {
		c.Auth.Methods = []string{"external", "password", "token", "oauth1", "mapped", "application_credential"}
	}
	two := func(c *conf.Config) { c.Auth.Methods = []string{"password", "token"} }
	for _, x := range []struct {
		name string
		set  func(*conf.Config)
		body string
		want string
	}{
		{"unknown", six, `{"methods":["kerberos"],"kerberos":{}}`, "[external password token oauth1 mapped application_credential]"},
		{"switched off", two, `{"methods":["application_credential"],"application_credential":{"id":"x","secret":"y"}}`, "[password token]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			eachCloud(t, x.set, func(c *cloud) {
				a := c.call("POST", "/v3/auth/tokens", "", `{"auth":{"identity":`+x.body+`}}`)
				c.status("login", a, 401)
				if got := fmt.Sprint(a.At(t, "error", "identity", "methods")); got != x.want {
					t.Errorf("methods %s, want %s: %s", got, x.want, a.Body)
				}
			})
		})
	}
}

// TestO_05: bad bodies are 400, always JSON.
func TestO_05(t *testing.T) {
	user := func(fields string) string {
		return `{"auth":{"identity":{"methods":["password"],"password":{"user":{` + fields + `}}}}}`
	}
	eachCloud(t, nil, func(c *cloud) {
		scoped := func(scope string) string {
			return `{"auth":{"identity":{"methods":["password"],"password":{"user":{"id":"` + c.ids["ana"] + `","password":"ana-pw"}}},"scope":` + scope + `}}`
		}
		for name, body := range map[string]string{
			"cut off":                     `{"auth":`,
			"list":                        `[1]`,
			"empty":                       ``,
			"auth null":                   `{"auth":null}`,
			"identity a list":             `{"auth":{"identity":[]}}`,
			"password without its object": `{"auth":{"identity":{"methods":["password"]}}}`,
			"scope empty":                 scoped(`{}`),
			"project and domain":          scoped(`{"project":{"id":"` + c.ids["p1"] + `"},"domain":{"id":"default"}}`),
			"scope zzz":                   scoped(`"zzz"`),
			"project without domain":      scoped(`{"project":{"name":"p1"}}`),
			"user without domain":         user(`"name":"ana","password":"ana-pw"`),
			"password a number":           user(`"id":"` + c.ids["ana"] + `","password":123`),
			"user id a number":            user(`"id":5,"password":"x"`),
			"trust a text":                scoped(`{"OS-TRUST:trust":"x"}`),
		} {
			a := c.call("POST", "/v3/auth/tokens", "", body)
			c.status(name, a, 400)
			if message(t, a) == "" {
				t.Errorf("%s: %s", name, a.Body)
			}
		}
		text := harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: scoped(`"unscoped"`), Header: map[string]string{"Content-Type": "text/plain"}}
		c.status("text/plain", c.Do(text), 400)
		c.status("no methods", c.call("POST", "/v3/auth/tokens", "", `{"auth":{"identity":{"methods":[]}}}`), 401)
		c.status("unscoped", c.call("POST", "/v3/auth/tokens", "", scoped(`"unscoped"`)), 201)
		big := c.call("POST", "/v3/auth/tokens", "", `{"auth":"`+strings.Repeat("x", 200_000)+`"}`)
		c.status("200 kB", big, 413)
		if message(t, big) == "" {
			t.Errorf("413: %s", big.Body)
		}
	})
}

// TestO_06: locked, wrong and unknown look alike.
func TestO_06(t *testing.T) {
	attempts := 3
	eachCloud(t, func(c *conf.Config) {
		c.SecurityCompliance.LockoutFailureAttempts, c.SecurityCompliance.LockoutDuration = &attempts, 60
	}, func(c *cloud) {
		byName := func(name, password string) harness.Answer {
			return c.call("POST", "/v3/auth/tokens", "", harness.Login(name, password, nil))
		}
		lock := func() {
			for range 3 {
				c.bare("wrong", c.try("ana", "wrong", "p1"))
			}
		}
		lock()
		locked := []harness.Answer{c.try("ana", "ana-pw", "p1"), byName("ana", "ana-pw"), byName("nobody", "ana-pw")}
		for i, a := range locked {
			c.bare(fmt.Sprint("answer ", i), a)
			if headerNames(a) != headerNames(locked[0]) || strings.Contains(fmt.Sprint(a.Header), c.ids["ana"]) {
				t.Errorf("answer %d: headers %v", i, a.Header)
			}
		}
		c.pass(40 * time.Second)
		c.bare("before its time", c.try("ana", "ana-pw", "p1"))
		c.pass(21 * time.Second)
		c.status("after its time", c.try("ana", "ana-pw", "p1"), 201)

		c.update("ben", `{"options":{"ignore_lockout_failure_attempts":true}}`)
		for range 6 {
			c.bare("wrong, exempt", c.try("ben", "wrong", "p1"))
		}
		c.status("never locked", c.try("ben", "ben-pw", "p1"), 201)

		for change, password := range map[string]string{`{"enabled":true}`: "ana-pw", `{"password":"new-pw"}`: "new-pw"} {
			c.update("ana", `{"password":"ana-pw"}`)
			lock()
			c.bare("locked", c.try("ana", "ana-pw", "p1"))
			c.update("ana", change)
			c.status("after "+change, c.try("ana", password, "p1"), 201)
		}
	})
}

// TestO_10: scoping anew never lengthens a life.
func TestO_10(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		first := c.try("ana", "ana-pw", "unscoped")
		c.status("login", first, 201)
		end, token := first.At(t, "token", "expires_at"), first.Header.Get("X-Subject-Token")
		firstAudit := fmt.Sprint(first.At(t, "token", "audit_ids", 0))
		tokens := []string{token}
		for i := range 10 {
			c.pass(2 * time.Second)
			a := c.exchange(tokens[len(tokens)-1], []string{"p1", "p2"}[i%2])
			c.status(fmt.Sprint("exchange ", i), a, 201)
			methods, _ := a.At(t, "token", "methods").([]any)
			slices.SortFunc(methods, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			if fmt.Sprint(methods) != "[password token]" || a.At(t, "token", "expires_at") != end {
				t.Errorf("exchange %d: methods %v, ends %v, the first %v", i, methods, a.At(t, "token", "expires_at"), end)
			}
			audits, _ := a.At(t, "token", "audit_ids").([]any)
			if len(audits) != 2 || audits[1] != firstAudit || audits[0] == firstAudit {
				t.Errorf("exchange %d: audit ids %v, the first's %s", i, audits, firstAudit)
			}
			tokens = append(tokens, a.Header.Get("X-Subject-Token"))
		}
		admin := c.Admin()
		c.status("revoke the first", c.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens?cascade=false", Token: admin, Subject: token}), 204)
		c.status("the first", c.validate(admin, token, ""), 404)
		for i, other := range tokens[1:] {
			c.status(fmt.Sprint("the one of exchange ", i), c.validate(admin, other, ""), 200)
		}
		again := c.as("ana", "p1")
		made := c.exchange(again, "p2").Header.Get("X-Subject-Token")
		c.status("revoke with what was made of it", c.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: again}), 204)
		for _, dead := range []string{again, made} {
			c.status("of the chain", c.validate(admin, dead, ""), 404)
		}
		c.pass(time.Duration(c.Conf.Token.Expiration) * time.Second)
		for _, other := range tokens {
			c.status("an hour on", c.validate(c.Admin(), other, ""), 404)
		}
	})
}
