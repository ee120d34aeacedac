package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// contracts are what clients in the field rely on and a server that looks
// right can still break. Each check gets a cloud of its own.
var contracts = []struct {
	id    string
	set   func(*conf.Config)
	check func(c *cloud)
}{
	{id: "C01", check: discoveryIs300},
	{id: "C02", check: linksAreReachable},
	{id: "C03", check: prefixEverywhere},
	{id: "C04", check: slashesAtTheEnd},
	{id: "C05", check: codes},
	{id: "C06", check: subjectToken},
	{id: "C07", check: notFoundByAnyText},
	{id: "C08", check: badSubjectBadCaller},
	{id: "C09", set: oneAnAddress, check: validationCodes},
	{id: "C10", check: noCatalog},
	{id: "C11", check: expiredWithinTheWindow},
	{id: "C12", set: lowBodyLimit, check: headersOnEveryAnswer},
	{id: "C13", check: expiredPasswordText},
	{id: "C14", set: withTOTP, check: receiptOfMissingFactor},
	{id: "C15", set: oneAnAddress, check: retryAfterInSeconds},
	{id: "C16", set: oneAnAddress, check: servicesAreNeverLimited},
	{id: "C18", check: catalogShape},
	{id: "C19", check: adminProjectAndDomain},
	{id: "C20", check: rolesOfBootstrap},
	{id: "C21", set: behindDashboard, check: forwardedByDashboard},
	{id: "C22", check: jsonHome},
	{id: "C24", check: idleConnections},
	{id: "C25", check: bodyLimit},
}

// notServedContracts are of areas that are not served; they move up when those
// are.
var notServedContracts = map[string]string{
	"C17": "s3tokens and ec2tokens are not served; validation by services is in C16",
	"C23": "s3tokens and ec2tokens are not served",
}

func TestContracts(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		for _, x := range contracts {
			t.Run(engine+"/"+x.id, func(t *testing.T) {
				x.check(newCloud(t, harness.Options{Engine: engine, Conf: x.set}))
			})
		}
	}
	for n := 1; n <= 25; n++ {
		id, checked := fmt.Sprintf("C%02d", n), 0
		for _, x := range contracts {
			if x.id == id {
				checked++
			}
		}
		if _, not := notServedContracts[id]; not == (checked > 0) {
			t.Errorf("%s has %d checks; not served: %v", id, checked, not)
		}
	}
}

func oneAnAddress(c *conf.Config) {
	c.RateLimitGlobalIP.Enabled, c.RateLimitGlobalIP.BurstSize, c.RateLimitGlobalIP.ReplenishRatePerSecond = limit(1)
}

func lowBodyLimit(c *conf.Config) { c.OsloMiddleware.MaxRequestBodySize = 1000 }

func withTOTP(c *conf.Config) {
	c.Auth.Methods = []string{"external", "password", "token", "oauth1", "mapped", "application_credential", "totp"}
}

// entryOfVersion is the one entry of the version list, link apart.
func entryOfVersion(c *cloud, entry any, base string) {
	c.t.Helper()
	v, _ := entry.(map[string]any)
	links := fmt.Sprint(v["links"])
	if v["id"] != "v3.14" || v["status"] != "stable" || v["updated"] == nil || links != "[map[href:"+base+"/v3/ rel:self]]" {
		c.t.Errorf("version %v, want v3.14, stable, with a link to %s/v3/", v, base)
	}
	if got := fmt.Sprint(v["media-types"]); got != "[map[base:application/json type:application/vnd.openstack.identity-v3+json]]" {
		c.t.Errorf("media-types %s", got)
	}
}

func discoveryIs300(c *cloud) {
	a := c.call("GET", "/", "", nil)
	c.status("GET /", a, 300)
	if a.Header.Get("Location") != "http://keystone.test/v3/" {
		c.t.Errorf("Location %q", a.Header.Get("Location"))
	}
	values, _ := a.At(c.t, "versions", "values").([]any)
	if len(values) != 1 {
		c.t.Fatalf("%d versions in %s", len(values), a.Body)
	}
	entryOfVersion(c, values[0], "http://keystone.test")
	head := c.call("HEAD", "/", "", nil)
	c.status("HEAD /", head, 300)
	if head.Body != "" || head.Header.Get("Location") == "" {
		c.t.Errorf("HEAD /: %v %q", head.Header, head.Body)
	}
	for _, path := range []string{"/v3", "/v3/"} {
		a := c.call("GET", path, "", nil)
		c.status(path, a, 200)
		entryOfVersion(c, a.At(c.t, "version"), "http://keystone.test")
	}
	c.status("version 2", c.call("GET", "/v2.0", "", nil), 404)
}

// params stands for the arguments of a row's path.
var params = strings.NewReplacer("{region_id}", "nosuch", "{user_id}", "nosuch")

// prefixEverywhere runs every row with and without a prefix, on one database.
func prefixEverywhere(c *cloud) {
	d := c.again(func(c *conf.Config) { c.KeystoneGo.PathPrefix = "/identity" })
	const plain = "http://keystone.test"
	var links []string
	for _, name := range []string{"self", "href", "assignment", "membership", "prior_role"} {
		links = append(links, `"`+name+`": "`+plain, `"`+name+`": "`+plain+`/identity`)
	}
	prefixed := strings.NewReplacer(links...)
	for _, token := range []string{"", c.Admin()} {
		for _, r := range c.Routes {
			path := params.Replace(r.Path)
			want := c.call(r.Method, path, token, nil)
			got := d.call(r.Method, strings.TrimSuffix("/identity"+path, "/"), token, nil)
			if got.Status != want.Status || got.Body != prefixed.Replace(want.Body) {
				c.t.Errorf("%s /identity%s: %d %s, without the prefix %d %s", r.Method, path, got.Status, got.Body, want.Status, want.Body)
			}
			if w := strings.ReplaceAll(want.Header.Get("WWW-Authenticate"), plain, plain+"/identity"); got.Header.Get("WWW-Authenticate") != w {
				c.t.Errorf("%s /identity%s: WWW-Authenticate %q, want %q", r.Method, path, got.Header.Get("WWW-Authenticate"), w)
			}
			if out := d.call(r.Method, path, token, nil); out.Status != 404 {
				c.t.Errorf("%s %s outside the prefix: %d", r.Method, path, out.Status)
			}
		}
	}
	for path, keys := range map[string][]any{
		"/identity/":           {"versions", "values", 0, "links", 0, "href"},
		"/identity/v3":         {"version", "links", 0, "href"},
		"/identity/v3/regions": {"regions", 0, "links", "self"},
	} {
		a := d.call("GET", path, c.Admin(), nil)
		link, _ := a.At(c.t, keys...).(string)
		if !strings.HasPrefix(link, plain+"/identity/v3/") || strings.Count(link, "identity") != 1 {
			c.t.Errorf("%s: link %q", path, link)
		}
	}
	a := d.call("GET", "/identity", "", nil)
	if got := a.Header.Get("Location"); got != plain+"/identity/v3/" {
		c.t.Errorf("Location %q", got)
	}
}

// slashesAtTheEnd: one is ignored; a doubled one is nobody's path.
func slashesAtTheEnd(c *cloud) {
	for _, token := range []string{"", c.Admin()} {
		for _, r := range c.Routes {
			path := params.Replace(r.Path)
			want := c.call(r.Method, path, token, nil)
			if got := c.call(r.Method, strings.TrimSuffix(path, "/")+"/", token, nil); got.Status != want.Status || got.Body != want.Body {
				c.t.Errorf("%s %s/: %d %s, without the slash %d %s", r.Method, path, got.Status, got.Body, want.Status, want.Body)
			}
			for _, doubled := range []string{"/" + path, strings.TrimSuffix(path, "/") + "//"} {
				got := c.call(r.Method, doubled, token, nil)
				if got.Status != 404 || r.Method != "HEAD" && got.At(c.t, "error", "code") != float64(404) {
					c.t.Errorf("%s %s: %d %s", r.Method, doubled, got.Status, got.Body)
				}
			}
		}
	}
}

// codes are the exact codes of successes: to gophercloud any other is an error.
func codes(c *cloud) {
	admin := c.Admin()
	for _, x := range []struct {
		method, path string
		body         any
		want         int
	}{
		{"POST", "/v3/auth/tokens", harness.Login("admin", harness.Password, nil), 201},
		{"POST", "/v3/regions", `{"region":{"id":"r1"}}`, 201},
		{"PUT", "/v3/regions/r2", `{"region":{}}`, 201},
		{"GET", "/v3/regions", nil, 200},
		{"HEAD", "/v3/regions", nil, 200},
		{"GET", "/v3/regions/r1", nil, 200},
		{"HEAD", "/v3/regions/r1", nil, 200},
		{"PATCH", "/v3/regions/r1", `{"region":{"description":"x"}}`, 200},
		{"DELETE", "/v3/regions/r1", nil, 204},
		{"PATCH", c.userPath("ana"), `{"user":{"description":"x"}}`, 200},
		{"POST", c.userPath("ana") + "/password", `{"user":{"original_password":"ana-pw","password":"new"}}`, 204},
		{"GET", "/v3/auth/catalog", nil, 200},
		{"GET", "/v3/auth/projects", nil, 200},
		{"GET", "/v3/auth/domains", nil, 200},
		{"GET", "/v3/auth/system", nil, 200},
	} {
		a := c.call(x.method, x.path, admin, x.body)
		if a.Status != x.want {
			c.t.Errorf("%s %s: %d, want %d: %.300s", x.method, x.path, a.Status, x.want, a.Body)
		}
		if (x.want == 204 || x.method == "HEAD") && a.Body != "" {
			c.t.Errorf("%s %s: body %q", x.method, x.path, a.Body)
		}
	}
	subject := c.as("ben", "p1")
	for _, x := range []struct {
		method string
		want   int
	}{{"GET", 200}, {"HEAD", 200}, {"DELETE", 204}} {
		a := c.Do(harness.Call{Method: x.method, Path: "/v3/auth/tokens", Token: admin, Subject: subject})
		if a.Status != x.want {
			c.t.Errorf("%s /v3/auth/tokens: %d, want %d", x.method, a.Status, x.want)
		}
	}
}

// longestToken is what columns and proxies elsewhere hold.
const longestToken = 255

func subjectToken(c *cloud) {
	admin := c.Admin()
	for who, scope := range map[string]string{"ana": "p1", "ben": "unscoped", "mia": "default", "rex": "system", "ole": acme} {
		login := c.try(who, who+"-pw", scope)
		c.status("login of "+who, login, 201)
		token := login.Header.Get("X-Subject-Token")
		if token == "" || len(token) > longestToken {
			c.t.Errorf("%s on %s: a token of %d characters", who, scope, len(token))
		}
		again := c.exchange(token, "unscoped").Header.Get("X-Subject-Token")
		if scope != "system" && (again == "" || len(again) > longestToken) {
			c.t.Errorf("%s again: a token of %d characters", who, len(again))
		}
		for _, method := range []string{"GET", "HEAD"} {
			a := c.Do(harness.Call{Method: method, Path: "/v3/auth/tokens", Token: admin, Subject: token})
			if a.Status != 200 || a.Header.Get("X-Subject-Token") != token {
				c.t.Errorf("%s of %s's token: %d, X-Subject-Token as sent: %v", method, who, a.Status, a.Header.Get("X-Subject-Token") == token)
			}
		}
	}
}

func notFoundByAnyText(c *cloud) {
	admin := c.Admin()
	other := "regionone"
	if c.engine == "mariadb" {
		other = "region-one" // letters of another case are the same there
	}
	for _, text := range []string{
		"x", "0", "None", "null", "a.b", "a%20b", "%C3%A9", "%E6%9C%AC", "%27%20or%201=1--", "%24%7B1%7D", "%25", "%00", "%FF", "a%2Fb",
		"..", "*", "name=RegionOne", other, "00000000-0000-0000-0000-000000000000", strings.Repeat("f", 32), strings.Repeat("x", 4000),
	} {
		a := c.call("GET", "/v3/regions/"+text, admin, nil)
		if a.Status != 404 || a.At(c.t, "error", "code") != float64(404) {
			c.t.Errorf("GET /v3/regions/%.60s: %d %.200s", text, a.Status, a.Body)
		}
	}
}
