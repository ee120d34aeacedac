package test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestO_17 is the part of regions.
func TestO_17(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		admin := c.Admin()
		a := c.call("PUT", "/v3/regions/new-x", admin, `{"region":{}}`)
		c.status("put", a, 201)
		if a.At(t, "region", "id") != "new-x" {
			t.Errorf("put: %s", a.Body)
		}
		c.status("get", c.call("GET", "/v3/regions/new-x", admin, nil), 200)
		c.status("patch", c.call("PATCH", "/v3/regions/new-x", admin, `{"region":{"colour":"blue"}}`), 200)
		c.status("patch again", c.call("PATCH", "/v3/regions/new-x", admin, `{"region":{"description":"d"}}`), 200)
		a = c.call("GET", "/v3/regions/new-x", admin, nil)
		if a.At(t, "region", "colour") != "blue" || a.At(t, "region", "description") != "d" {
			t.Errorf("after two patches: %s", a.Body)
		}
	})
}

// TestO_18 is the part of what a token shows.
func TestO_18(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		for i, url := range []string{"http://x/%(tenant_id)s", "http://x/$(project_id)s", "http://off/"} {
			id := strings.Repeat(fmt.Sprint(i), 32)
			c.must(catalog.CreateService(context.Background(), c.DB, catalog.Service{ID: id, Type: new(fmt.Sprint("t", i)), Enabled: true}))
			c.must(catalog.CreateEndpoint(context.Background(), c.DB, catalog.Endpoint{ID: id, ServiceID: id, Interface: "public", URL: url, Enabled: i < 2}))
		}
		urls := map[string]any{}
		a := c.try("ana", "ana-pw", "p1")
		services, _ := a.At(t, "token", "catalog").([]any)
		for _, s := range services {
			for _, e := range s.(map[string]any)["endpoints"].([]any) {
				urls[fmt.Sprint(s.(map[string]any)["type"])] = e.(map[string]any)["url"]
			}
		}
		want := map[string]any{"identity": "http://keystone.test/v3", "t0": "http://x/" + c.ids["p1"], "t1": "http://x/" + c.ids["p1"]}
		if fmt.Sprint(urls) != fmt.Sprint(want) {
			t.Errorf("catalog %v, want %v", urls, want)
		}
		unscoped := c.try("ana", "ana-pw", "unscoped")
		if token := unscoped.At(t, "token").(map[string]any); token["catalog"] != nil {
			t.Errorf("unscoped: %s", unscoped.Body)
		}
		c.status("catalog of an unscoped token", c.call("GET", "/v3/auth/catalog", unscoped.Header.Get("X-Subject-Token"), nil), 403)
		noCatalog(c)
	})
}

// TestO_19: a role taken away and given back, by SQL. The part of application
// credentials is left out.
func TestO_19(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		ben, admin := c.as("ben", "p1"), c.Admin()
		c.sql(`delete from assignment where actor_id = $1`, c.ids["ben"])
		c.status("without a role", c.validate(admin, ben, ""), 404)
		c.bare("its use", c.call("GET", "/v3/auth/projects", ben, nil))
		c.grant("ben", "member@p1")
		c.status("with it again", c.validate(admin, ben, ""), 200)
	})
}

// TestO_20: a disabled project.
func TestO_20(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		ana, admin := c.as("ana", "p1"), c.Admin()
		set := func(on bool) { c.sql(`update project set enabled = $1 where id = $2`, on, c.ids["p1"]) }
		set(false)
		c.status("as the subject", c.validate(admin, ana, ""), 404)
		c.status("as the caller", c.call("GET", "/v3/regions", ana, nil), 404)
		c.bare("a login", c.try("ana", "ana-pw", "p1"))
		set(true)
		c.status("enabled again", c.validate(admin, ana, ""), 200)
		c.status("enabled again, as the caller", c.call("GET", "/v3/regions", ana, nil), 200)
	})
}

// TestO_21: seventy-two bytes.
func TestO_21(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		login := func(password string) int { return c.try("ana", password, "p1").Status }
		set := func(password string) {
			c.update("ana", `{"password":"`+password+`"}`)
		}
		for _, n := range []int{73, 100, 4097} {
			p := strings.Repeat("a", n)
			set(p)
			got := []int{login(p), login(p[:72]), login(p + "x"), login(p[:54]), login(p[:71])}
			if fmt.Sprint(got) != "[201 201 201 401 401]" {
				t.Errorf("%d bytes: itself, its first 72, one more, its first 54, its first 71: %v", n, got)
			}
		}
		p := strings.Repeat("é", 40)
		set(p)
		got := []int{login(p), login(p[:72]), login(p + "x"), login(p[:70])}
		if fmt.Sprint(got) != "[201 201 201 401]" {
			t.Errorf("80 bytes of é: itself, its first 72, one more, its first 70: %v", got)
		}
	})
}

// TestO_22: changing one's own password. The row of the security_compliance
// configuration is not served.
func TestO_22(t *testing.T) {
	const rule = "a letter, a digit, seven characters"
	eachCloud(t, nil, func(c *cloud) {
		c = c.again(func(c *conf.Config) {
			s := &c.SecurityCompliance
			s.UniqueLastPasswordCount, s.PasswordRegex, s.PasswordRegexDescription = 2, `^(?=.*\d)(?=.*[a-zA-Z]).{7,}$`, rule
		})
		change := func(original, password string) harness.Answer { return c.change("ana", original, password) }
		c.update("ana", `{"password":"first-1"}`)
		c.pass(2 * time.Second) // a revocation takes the tokens of its second with it
		c.bare("wrong original", change("wrong", "second-2"))
		c.status("no original", c.call("POST", c.userPath("ana")+"/password", "", `{"user":{"password":"second-2"}}`), 400)
		c.status("the same", change("first-1", "first-1"), 400)
		weak := change("first-1", "weak")
		c.status("too weak", weak, 400)
		if !strings.Contains(message(t, weak), rule) {
			t.Errorf("too weak: %s", weak.Body)
		}
		before := c.try("ana", "first-1", "p1").Header.Get("X-Subject-Token")
		c.status("good", change("first-1", "second-2"), 204)
		c.status("the token of before", c.validate(c.Admin(), before, ""), 404)
		c.status("the one before", change("second-2", "first-1"), 400)
		c.status("the new one", c.try("ana", "second-2", "p1"), 201)
		c.bare("the old one", c.try("ana", "first-1", "p1"))
		c.expire("ana")
		c.status("expired", change("second-2", "third-3"), 204)
		c.status("after it", c.try("ana", "third-3", "p1"), 201)
		c.update("ana", `{"options":{"lock_password":true}}`)
		c.status("locked", change("third-3", "fourth-4"), 400)
	})
}

// TestO_23: receipts. What needs a second factor is left out: TOTP is not
// served.
func TestO_23(t *testing.T) {
	eachCloud(t, withTOTP, func(c *cloud) {
		receiptOfMissingFactor(c)
		again := func(receipt string) harness.Answer {
			return c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "ana-pw", nil), Header: map[string]string{"Openstack-Auth-Receipt": receipt}})
		}
		receipt := c.try("ana", "ana-pw", "p1").Header.Get("Openstack-Auth-Receipt")
		a := again(receipt)
		c.status("the same factor twice", a, 401)
		if a.Header.Get("Openstack-Auth-Receipt") == "" {
			t.Errorf("no new receipt: %s", a.Body)
		}
		for name, bad := range map[string]string{"nonsense": "nonsense", "token": c.as("ben", "p1"), "stranger's": stranger} {
			c.status(name, again(bad), 401)
			if again(bad).Header.Get("Openstack-Auth-Receipt") != "" {
				t.Errorf("%s: gains a receipt", name)
			}
		}
		ben := c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ben", "ben-pw", nil), Header: map[string]string{"Openstack-Auth-Receipt": receipt}})
		c.status("ana's with ben's password", ben, 401)
		c.pass(time.Duration(c.Conf.Receipt.Expiration+1) * time.Second)
		a = again(receipt)
		c.status("expired", a, 401)
		if !strings.HasPrefix(message(t, a), "Could not find auth receipt") {
			t.Errorf("expired: %s", a.Body)
		}
		c.update("ana", `{"options":{"multi_factor_auth_enabled":false}}`)
		c.status("one factor will do", c.try("ana", "ana-pw", "p1"), 201)
	})
}
