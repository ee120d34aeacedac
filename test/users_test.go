package test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/test/harness"
)

// malformed are updates that the schema of a user refuses, before anybody is
// asked who he is.
var malformed = map[string]string{
	"no user":                `{}`,
	"a key beside it":        `{"user":{"description":"x"},"target":{"user":{"domain_id":"default"}}}`,
	"no member":              `{"user":{}}`,
	"user null":              `{"user":null}`,
	"user a list":            `{"user":[]}`,
	"user a text":            `{"user":"x"}`,
	"name a number":          `{"user":{"name":1}}`,
	"name null":              `{"user":{"name":null}}`,
	"name empty":             `{"user":{"name":""}}`,
	"name blank":             `{"user":{"name":" \t"}}`,
	"name of 256":            `{"user":{"name":"` + strings.Repeat("本", 256) + `"}}`,
	"description a number":   `{"user":{"description":1}}`,
	"project a list":         `{"user":{"default_project_id":[]}}`,
	"domain null":            `{"user":{"domain_id":null}}`,
	"domain empty":           `{"user":{"domain_id":""}}`,
	"domain of 65":           `{"user":{"domain_id":"` + strings.Repeat("d", 65) + `"}}`,
	"domain with a blank":    `{"user":{"domain_id":"a b"}}`,
	"enabled null":           `{"user":{"enabled":null}}`,
	"enabled a number":       `{"user":{"enabled":1}}`,
	"enabled a list":         `{"user":{"enabled":[]}}`,
	"enabled maybe":          `{"user":{"enabled":"maybe"}}`,
	"password a number":      `{"user":{"password":1}}`,
	"options null":           `{"user":{"options":null}}`,
	"options a list":         `{"user":{"options":[]}}`,
	"option unknown":         `{"user":{"options":{"zzz":true}}}`,
	"option by its id":       `{"user":{"options":{"1002":true}}}`,
	"option a text":          `{"user":{"options":{"lock_password":"true"}}}`,
	"option a number":        `{"user":{"options":{"ignore_password_expiry":1}}}`,
	"rules a text":           `{"user":{"options":{"multi_factor_auth_rules":"password"}}}`,
	"rules flat":             `{"user":{"options":{"multi_factor_auth_rules":["password"]}}}`,
	"rule empty":             `{"user":{"options":{"multi_factor_auth_rules":[[]]}}}`,
	"rule of numbers":        `{"user":{"options":{"multi_factor_auth_rules":[[1]]}}}`,
	"rule with a name twice": `{"user":{"options":{"multi_factor_auth_rules":[["totp","totp"]]}}}`,
	"rules twice":            `{"user":{"options":{"multi_factor_auth_rules":[["totp"],["totp"]]}}}`,
	"federated an object":    `{"user":{"federated":{}}}`,
	"federated of texts":     `{"user":{"federated":["x"]}}`,
	"federated incomplete":   `{"user":{"federated":[{"idp_id":"x"}]}}`,
	"federated no protocol":  `{"user":{"federated":[{"idp_id":"x","protocols":[]}]}}`,
	"protocol incomplete":    `{"user":{"federated":[{"idp_id":"x","protocols":[{"protocol_id":"p"}]}]}}`,
	"broken":                 `{"user":`,
	"a list":                 `[]`,
}

func TestUserUpdate(t *testing.T) {
	t.Run("malformed", func(t *testing.T) {
		eachCloud(t, nil, func(c *cloud) {
			admin := c.Admin()
			for name, body := range malformed {
				for who, token := range map[string]string{"nobody": "", "admin": admin} {
					for what, path := range map[string]string{"there": c.userPath("ana"), "not there": "/v3/users/nosuch"} {
						a := c.call("PATCH", path, token, body)
						if a.Status != 400 || message(t, a) == "" {
							t.Errorf("%s by %s, user %s: %d %s", name, who, what, a.Status, a.Body)
						}
					}
				}
			}
		})
	})
	t.Run("policy", func(t *testing.T) { eachCloud(t, nil, whoMayUpdate) })
	t.Run("shown", func(t *testing.T) { eachCloud(t, nil, shownAfterUpdate) })
	t.Run("attributes", func(t *testing.T) { eachCloud(t, nil, attributes) })
	t.Run("options", func(t *testing.T) { eachCloud(t, nil, optionsOfUser) })
}

func whoMayUpdate(c *cloud) {
	callers := []struct {
		name, token      string
		ana, ole, nobody int // status for a user of default, of acme, for none
	}{
		{"nobody", "", 401, 401, 401},
		{"rubbish", "rubbish", 401, 401, 401},
		{"the administrator", c.Admin(), 200, 200, 404},
		{"the administrator on the system", c.try("admin user", harness.Password, "system").Header.Get("X-Subject-Token"), 200, 200, 404},
		{"an administrator of acme", c.as("dan", acme), 200, 200, 404},
		{"default's manager", c.as("mia", "default"), 200, 403, 403},
		{"default's manager, unscoped", c.as("mia", "unscoped"), 403, 403, 403},
		{"acme's manager", c.as("ole", acme), 403, 200, 403},
		{"a reader of the system", c.as("rex", "system"), 403, 403, 403},
		{"a reader of the domain", c.as("rex", "default"), 403, 403, 403},
		{"a service", c.as("svc", "p1"), 403, 403, 403},
		{"herself", c.as("ana", "p1"), 403, 403, 403},
		{"another member", c.as("ben", "p1"), 403, 403, 403},
	}
	c.grant("mia", "manager@p1")
	callers = append(callers, callers[0])
	callers[len(callers)-1].name, callers[len(callers)-1].token = "a manager of a project", c.as("mia", "p1")
	callers[len(callers)-1].ana, callers[len(callers)-1].ole, callers[len(callers)-1].nobody = 403, 403, 403
	changed := map[string]string{}
	for _, x := range callers {
		for target, want := range map[string]int{"ana": x.ana, "ole": x.ole, "nosuch": x.nobody} {
			path := c.userPath(target)
			if target == "nosuch" {
				path = "/v3/users/nosuch"
			}
			a := c.call("PATCH", path, x.token, `{"user":{"by":"`+x.name+`"}}`)
			c.status(x.name+" on "+target, a, want)
			switch want {
			case 200:
				changed[target] = x.name
			case 401:
				c.bare(x.name+" on "+target, a)
			case 403:
				if got := message(c.t, a); got != "You are not authorized to perform the requested action: identity:update_user." {
					c.t.Errorf("%s on %s: %q", x.name, target, got)
				}
			case 404:
				if got := message(c.t, a); got != "Could not find user: nosuch." {
					c.t.Errorf("%s on %s: %q", x.name, target, got)
				}
			}
		}
	}
	for target, by := range changed {
		if got := c.update(target, `{"seen":1}`).At(c.t, "user", "by"); got != by {
			c.t.Errorf("%s was last changed by %v, want %s", target, got, by)
		}
	}
}

func shownAfterUpdate(c *cloud) {
	a := c.update("ana", `{"description":"d","email":null,"phone":{"home":[1,2.5,"é"]},"password":"secret-1"}`)
	id := c.ids["ana"]
	want := `{"user": {"description": "d", "email": null, "phone": {"home": [1, 2.5, "\u00e9"]}, "id": "` + id + `", "name": "ana", "domain_id": "default", "enabled": true, "password_expires_at": null, ` +
		`"extra": {"description": "d", "email": null, "phone": {"home": [1, 2.5, "\u00e9"]}}, "options": {}, "links": {"self": "http://keystone.test/v3/users/` + id + `"}}}` + "\n"
	if a.Body != want {
		c.t.Errorf("got  %s\nwant %s", a.Body, want)
	}
	if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Vary") != "X-Auth-Token" {
		c.t.Errorf("headers %v", a.Header)
	}
	a = c.update("ana", `{"enabled":true,"description":"e","links":{"self":"x"},"extra":{"evil":1},"password_expires_at":"never"}`)
	user := a.At(c.t, "user").(map[string]any)
	if user["description"] != "e" || user["phone"] == nil || user["evil"] != nil || user["password_expires_at"] != nil || user["password"] != nil {
		c.t.Errorf("after another: %s", a.Body)
	}
	if links := fmt.Sprint(user["links"]); links != "map[self:http://keystone.test/v3/users/"+id+"]" {
		c.t.Errorf("links %s", links)
	}
	if got := slices.Sorted(maps.Keys(user["extra"].(map[string]any))); strings.Join(got, " ") != "description email phone" {
		c.t.Errorf("extra %v", got)
	}
}

func attributes(c *cloud) {
	admin, id := c.Admin(), c.ids["ana"]
	refuse := func(change string, status int, text string) {
		c.t.Helper()
		a := c.call("PATCH", c.userPath("ana"), admin, `{"user":`+change+`}`)
		c.status(change, a, status)
		if got := message(c.t, a); got != text {
			c.t.Errorf("%s: %q, want %q", change, got, text)
		}
	}
	refuse(`{"id":"00000000000000000000000000000000"}`, 400, "Cannot change ID")
	refuse(`{"id":null}`, 400, "Cannot change ID")
	refuse(`{"domain_id":"`+acme+`"}`, 400, "Cannot change Domain ID")
	refuse(`{"name":"ben"}`, 409, "Conflict occurred attempting to store user - Duplicate entry found with name ben.")
	c.update("ana", `{"id":"`+id+`","domain_id":"default","name":"ana"}`)
	if got := c.update("ana", `{"name":"  Anna Ä  "}`).At(c.t, "user", "name"); got != "Anna Ä" {
		c.t.Errorf("name %q", got)
	}
	byName := func(name string) int {
		return c.call("POST", "/v3/auth/tokens", "", harness.Login(name, "ana-pw", nil)).Status
	}
	if old, renamed := byName("ana"), byName("Anna Ä"); old != 401 || renamed != 201 {
		c.t.Errorf("login by the old name %d, by the new one %d", old, renamed)
	}
	c.update("ana", `{"name":"`+strings.Repeat("本", 255)+`"}`)
	// The same name in another domain is nobody's business.
	c.update("ole", `{"name":"ben"}`)

	for text, want := range map[string]bool{
		"true": true, "false": false, `"True"`: true, `"TRUE"`: true, `"true"`: true, `"False"`: false, `"FALSE"`: false, `"false"`: false,
		`"1"`: true, `"0"`: false, `"y"`: true, `"Y"`: true, `"n"`: false, `"N"`: false, `"on"`: true, `"ON"`: true, `"off"`: false, `"OFF"`: false, `"yes"`: true, `"no"`: false,
	} {
		if got := c.update("ana", `{"enabled":`+text+`}`).At(c.t, "user", "enabled"); got != want {
			c.t.Errorf("enabled %s: %v", text, got)
		}
	}
	c.update("ana", `{"enabled":true}`)

	a := c.update("ana", `{"default_project_id":"`+c.ids["p2"]+`"}`)
	if a.At(c.t, "user", "default_project_id") != c.ids["p2"] {
		c.t.Errorf("default project: %s", a.Body)
	}
	if got := c.try("ana", "ana-pw", "").At(c.t, "token", "project", "name"); got != "p2" {
		c.t.Errorf("a login without a scope lands on %v", got)
	}
	c.update("ana", `{"default_project_id":null}`)
	if token := c.try("ana", "ana-pw", "").At(c.t, "token").(map[string]any); token["project"] != nil {
		c.t.Errorf("a login without a scope and default: %v", token)
	}
}

func optionsOfUser(c *cloud) {
	shown := func(change string, want string) {
		c.t.Helper()
		if got := fmt.Sprint(c.update("ana", change).At(c.t, "user", "options")); got != want {
			c.t.Errorf("%s: options %s, want %s", change, got, want)
		}
	}
	shown(`{"options":{"ignore_password_expiry":true,"lock_password":false}}`, "map[ignore_password_expiry:true lock_password:false]")
	shown(`{"description":"x"}`, "map[ignore_password_expiry:true lock_password:false]")
	shown(`{"options":{"lock_password":null,"ignore_user_inactivity":null}}`, "map[ignore_password_expiry:true]")
	shown(`{"options":{"multi_factor_auth_rules":[["password","totp"],["password"]],"multi_factor_auth_enabled":false}}`,
		"map[ignore_password_expiry:true multi_factor_auth_enabled:false multi_factor_auth_rules:[[password totp] [password]]]")
	shown(`{"options":{"ignore_password_expiry":null,"multi_factor_auth_enabled":null,"multi_factor_auth_rules":null}}`, "map[]")
	shown(`{"options":{"ignore_change_password_upon_first_use":true,"ignore_lockout_failure_attempts":true,"ignore_user_inactivity":true}}`,
		"map[ignore_change_password_upon_first_use:true ignore_lockout_failure_attempts:true ignore_user_inactivity:true]")

	// As Python stores them, and without what no release knows.
	c.sql(`insert into user_option (user_id, option_id, option_value) values ($1, 'zzzz', 'true')`, c.ids["ana"])
	c.update("ana", `{"options":{"multi_factor_auth_rules":[["password", "totp"]]}}`)
	rows, err := db.All(context.Background(), c.DB, identity.OptionsOf(c.ids["ana"]))
	c.must(err)
	stored := map[string]string{}
	for _, o := range rows {
		stored[o.ID] = o.Value
	}
	want := map[string]string{"1000": "true", "1002": "true", "1004": "true", "MFAR": `[["password", "totp"]]`}
	if !maps.Equal(stored, want) {
		c.t.Errorf("stored %v, want %v", stored, want)
	}
}
