package test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/test/harness"
)

// stranger looks like a Fernet token and was made under a key of somebody else.
const stranger = "gAAAAABrDMkAAAECAwQFBgcICQoLDA0OD5datpzvcvP44lXFE_E-EWBOeX5Xx"

// jwt is a token of something else altogether.
const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJl"

// badSubjectBadCaller: auth_token takes 404 for "this user's token is bad" and
// 401 for "mine is", and acts on it.
func badSubjectBadCaller(c *cloud) {
	expired := c.as("ana", "p1")
	c.pass(time.Duration(c.Conf.Token.Expiration+1) * time.Second)
	admin := c.Admin()
	revoked := c.as("ana", "p1")
	c.status("revoke", c.Do(harness.Call{Method: "DELETE", Path: "/v3/auth/tokens", Token: admin, Subject: revoked}), 204)
	good := c.as("ben", "p1")
	for name, token := range map[string]string{
		"none": "", "rubbish": "rubbish", "a stranger's": stranger, "JWT": jwt, "expired": expired, "revoked": revoked,
		"cut": good[:len(good)-4], "tampered": good[:40] + flip(good[40]) + good[41:], "of bytes": "\xff\xfe", "long": strings.Repeat("x", 10_000),
	} {
		c.status(name+" subject", c.validate(admin, token, ""), 404)
		caller := c.validate(token, good, "")
		c.bare(name+" caller", caller)
		if got := caller.Header.Get("WWW-Authenticate"); got != `Keystone uri="http://keystone.test/v3"` {
			c.t.Errorf("%s caller: WWW-Authenticate %q", name, got)
		}
		c.bare(name+" caller and subject", c.validate(token, token, ""))
	}
}

func flip(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

// validationCodes: whatever a service asks about, from an address that has
// used its limit up, the code is one that auth_token knows.
func validationCodes(c *cloud) {
	service := c.as("svc", "p1")
	subject := c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "ana-pw", nil), From: from(9)}).Header.Get("X-Subject-Token")
	c.status("an address with nothing left", c.call("POST", "/v3/auth/tokens", "", harness.Login("nobody", "x", nil)), 429)
	for _, query := range []string{"", "?nocatalog", "?allow_expired=1", "?allow_expired=%ff&nocatalog=%zz"} {
		for range 20 {
			c.status("a good one"+query, c.validate(service, subject, query), 200)
		}
		for _, bad := range []string{"", "x", stranger, jwt, "\x00", "\xff", subject + "x", strings.Repeat("A", 300), strings.Repeat("=", 300), strings.Repeat("é", 5000)} {
			c.status(fmt.Sprintf("%.20q%s", bad, query), c.validate(service, bad, query), 404)
		}
	}
}

func noCatalog(c *cloud) {
	admin, ana := c.Admin(), c.as("ana", "p1")
	if a := c.validate(admin, ana, ""); a.At(c.t, "token", "catalog") == nil {
		c.t.Errorf("no catalog: %s", a.Body)
	}
	for _, query := range []string{"?nocatalog", "?nocatalog=1", "?nocatalog&allow_expired=1"} {
		a := c.validate(admin, ana, query)
		c.status(query, a, 200)
		if token := a.At(c.t, "token").(map[string]any); token["catalog"] != nil || token["roles"] == nil {
			c.t.Errorf("%s: %s", query, a.Body)
		}
	}
	login := c.call("POST", "/v3/auth/tokens?nocatalog", "", harness.Login("ana", "ana-pw", harness.OnProject("p1")))
	c.status("login", login, 201)
	if login.At(c.t, "token", "catalog") != nil || login.At(c.t, "token", "project") == nil {
		c.t.Errorf("login?nocatalog: %s", login.Body)
	}
}

func expiredWithinTheWindow(c *cloud) {
	ana := c.as("ana", "p1")
	life := time.Duration(c.Conf.Token.Expiration) * time.Second
	window := time.Duration(c.Conf.Token.AllowExpiredWindow) * time.Second
	ask := func(when, query string, want int) {
		c.t.Helper()
		c.status(when+query, c.validate(c.Admin(), ana, query), want)
	}
	ask("fresh", "?allow_expired=1", 200)
	c.pass(life + 2*time.Second)
	ask("just expired", "", 404)
	ask("just expired", "?allow_expired=0", 404)
	for _, yes := range []string{"1", "true", "True", "yes", "on"} {
		ask("just expired", "?allow_expired="+yes, 200)
	}
	c.bare("an expired caller", c.validate(ana, ana, "?allow_expired=1"))
	c.pass(window - time.Minute)
	ask("at the end of the window", "?allow_expired=1", 200)
	c.pass(time.Minute)
	ask("after the window", "?allow_expired=1", 404)
}

func expiredPasswordText(c *cloud) {
	c.expire("ana")
	a := c.try("ana", "ana-pw", "p1")
	c.status("expired", a, 401)
	if want := "The password is expired and needs to be changed for user: " + c.ids["ana"] + "."; !strings.HasPrefix(message(c.t, a), want) {
		c.t.Errorf("message %q, want it to begin with %q", message(c.t, a), want)
	}
	// As the dashboard reads it.
	found := regexp.MustCompile(`^The password is expired and needs to be changed for user: ([^.]*)[.].*`).FindStringSubmatch(message(c.t, a))
	if found == nil || found[1] != c.ids["ana"] {
		c.t.Errorf("the dashboard finds %q", found)
	}
	c.bare("a wrong password", c.try("ana", "wrong", "p1"))
	c.status("the way out", c.change("ana", "ana-pw", "new"), 204)
	c.status("the new one", c.try("ana", "new", "p1"), 201)
}

func receiptOfMissingFactor(c *cloud) {
	c.update("ana", `{"options":{"multi_factor_auth_rules":[["password","totp"]]}}`)
	a := c.try("ana", "ana-pw", "p1")
	c.status("half a login", a, 401)
	if a.Header.Get("Openstack-Auth-Receipt") == "" || a.Header.Get("X-Subject-Token") != "" || a.Header.Get("WWW-Authenticate") != "" {
		c.t.Errorf("headers: %s", headerNames(a))
	}
	body := a.JSON(c.t)
	receipt, _ := body["receipt"].(map[string]any)
	if got := slices.Sorted(maps.Keys(receipt)); !slices.Equal(got, []string{"expires_at", "issued_at", "methods", "user"}) {
		c.t.Errorf("receipt %v", receipt)
	}
	if fmt.Sprint(receipt["methods"]) != "[password]" || a.At(c.t, "receipt", "user", "id") != c.ids["ana"] || a.At(c.t, "receipt", "user", "domain", "id") != "default" {
		c.t.Errorf("receipt %v", receipt)
	}
	rules := fmt.Sprint(body["required_auth_methods"])
	if len(body) != 2 || rules != "[[password totp]]" && rules != "[[totp password]]" {
		c.t.Errorf("body %s", a.Body)
	}
}

// catalogShape: SDKs read exactly these keys.
func catalogShape(c *cloud) {
	ctx, region := context.Background(), "RegionOne"
	c.must(catalog.CreateService(ctx, c.DB, catalog.Service{ID: strings.Repeat("5", 32), Type: new("compute"), Enabled: true, Extra: pyjson.Object{{Key: "name", Value: "nova"}}}))
	for i, e := range []struct {
		url     string
		enabled bool
	}{
		{"http://nova/%(tenant_id)s/$(project_id)s/$(user_id)s", true},
		{"http://off/", false},
		{"http://nova/$(compute_host)s", true},
		{"http://nova/$(nothing)s", true},
		{"http://nova/100%", true},
	} {
		c.must(catalog.CreateEndpoint(ctx, c.DB, catalog.Endpoint{
			ID: strings.Repeat(fmt.Sprint(i), 32), ServiceID: strings.Repeat("5", 32), Interface: "public", URL: e.url, RegionID: &region, Enabled: e.enabled,
		}))
	}
	a := c.try("ana", "ana-pw", "p1")
	c.status("login", a, 201)
	var nova map[string]any
	for _, s := range a.At(c.t, "token", "catalog").([]any) {
		service := s.(map[string]any)
		if got := slices.Sorted(maps.Keys(service)); !slices.Equal(got, []string{"endpoints", "id", "name", "type"}) {
			c.t.Errorf("service with %v", got)
		}
		if service["type"] == "compute" {
			nova = service
		}
	}
	want := harness.M{
		"id": strings.Repeat("0", 32), "interface": "public", "region": region, "region_id": region,
		"url": "http://nova/" + c.ids["p1"] + "/" + c.ids["p1"] + "/" + c.ids["ana"],
	}
	if fmt.Sprint(nova["endpoints"]) != fmt.Sprint([]any{want}) || nova["name"] != "nova" {
		c.t.Errorf("compute %v, want one endpoint %v", nova, want)
	}
	own := c.call("GET", "/v3/auth/catalog", a.Header.Get("X-Subject-Token"), nil)
	if fmt.Sprint(sortedByID(own.At(c.t, "catalog"))) != fmt.Sprint(sortedByID(a.At(c.t, "token", "catalog"))) {
		c.t.Errorf("/v3/auth/catalog %s, the token has %v", own.Body, a.At(c.t, "token", "catalog"))
	}
}

func sortedByID(list any) []any {
	l, _ := list.([]any)
	slices.SortFunc(l, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["id"]), fmt.Sprint(b.(map[string]any)["id"]))
	})
	return l
}

func adminProjectAndDomain(c *cloud) {
	token := c.try("ana", "ana-pw", "p1").At(c.t, "token").(map[string]any)
	if _, said := token["is_admin_project"]; said || token["is_domain"] != false {
		c.t.Errorf("is_admin_project said: %v, is_domain %v", said, token["is_domain"])
	}
	d := c.again(func(c *conf.Config) {
		c.Resource.AdminProjectName, c.Resource.AdminProjectDomainName = "p1", "Default"
	})
	for project, want := range map[string]bool{"p1": true, "p2": false} {
		a := d.try("ana", "ana-pw", project)
		if got := a.At(c.t, "token", "is_admin_project"); got != want {
			c.t.Errorf("on %s: is_admin_project %v, want %v", project, got, want)
		}
	}
}

func rolesOfBootstrap(c *cloud) {
	for role, want := range map[string]string{
		"admin": "admin manager member reader", "manager": "manager member reader", "member": "member reader", "reader": "reader", "service": "service",
	} {
		c.create(role+"-holder", "default")
		c.grant(role+"-holder", role+"@p2")
		a := c.try(role+"-holder", role+"-holder-pw", "p2")
		c.status(role, a, 201)
		if got := rolesIn(c, a); got != want {
			c.t.Errorf("%s implies %q, want %q", role, got, want)
		}
	}
	for _, scope := range []string{"admin", "system"} {
		if got := rolesIn(c, c.try("admin user", harness.Password, scope)); got != "admin manager member reader" {
			c.t.Errorf("the administrator on %s: %q", scope, got)
		}
	}
}

func rolesIn(c *cloud, a harness.Answer) string {
	c.t.Helper()
	var names []string
	list, _ := a.At(c.t, "token", "roles").([]any)
	for _, r := range list {
		names = append(names, fmt.Sprint(r.(map[string]any)["name"]))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
