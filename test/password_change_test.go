package test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/test/harness"
)

// TestPasswordChangeMalformed: 400, whoever it is about.
func TestPasswordChangeMalformed(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		for _, body := range []string{
			`{}`, `{"user":null}`, `{"user":[]}`, `{"user":{}}`, `{"user":{"password":"x"}}`, `{"user":{"original_password":"x"}}`,
			`{"user":{"password":"x","original_password":"y","name":"z"}}`, `{"user":{"password":"x","original_password":"y"},"auth":{}}`,
			`{"user":{"password":1,"original_password":"y"}}`, `{"user":{"password":"x","original_password":null}}`,
			`{"user":{"password":null,"original_password":"ana-pw"}}`, `{"user":{"password":["x"],"original_password":"ana-pw"}}`, `{"user":`, `[]`, ``,
		} {
			for _, path := range []string{c.userPath("ana"), "/v3/users/nosuch"} {
				a := c.call("POST", path+"/password", "", body)
				if a.Status != 400 || message(t, a) == "" || strings.Contains(a.Body, "ana-pw") {
					t.Errorf("%s: %d %s", body, a.Status, a.Body)
				}
			}
		}
		c.status("the old one still", c.try("ana", "ana-pw", "p1"), 201)
	})
}

// TestPasswordChangeRefused: whoever does not prove the present password is
// told the bare 401, and a lock holds here too.
func TestPasswordChangeRefused(t *testing.T) {
	three := 3
	eachCloud(t, func(c *conf.Config) { c.SecurityCompliance.LockoutFailureAttempts = &three }, func(c *cloud) {
		c.bare("wrong", c.change("ana", "wrong", "new"))
		if n := c.account("ana").FailedAuthCount; n != 1 {
			t.Errorf("%d failures, want 1", n)
		}
		c.ids["nosuch"] = "nosuch"
		c.bare("unknown", c.change("nosuch", "x", "new"))
		c.update("ben", `{"enabled":false}`)
		c.bare("disabled", c.change("ben", "ben-pw", "new"))
		c.sql(`update project set enabled = $1 where id = $2`, false, acme)
		c.bare("disabled domain", c.change("ole", "ole-pw", "new"))
		c.update("mia", `{"password":null}`)
		c.bare("no password", c.change("mia", "", "new"))
		for range 3 {
			c.bare("wrong", c.change("ana", "wrong", "new"))
		}
		c.bare("locked", c.change("ana", "ana-pw", "new"))
		c.bare("locked, login", c.try("ana", "ana-pw", "p1"))
		if n := c.account("ana").FailedAuthCount; n != 3 {
			t.Errorf("%d failures, want 3", n)
		}
		c.update("ana", `{"enabled":true}`)
		c.bare("wrong", c.change("ana", "wrong", "new"))
		c.status("right", c.change("ana", "ana-pw", "new"), 204)
		if n := c.account("ana").FailedAuthCount; n != 0 {
			t.Errorf("%d failures after a change, want 0", n)
		}
	})
}

// TestPasswordChange: what a change does.
func TestPasswordChange(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		token, other := c.as("ana", "p1"), c.as("ben", "p1")
		a := c.Do(harness.Call{
			Method: "POST", Path: c.userPath("ana") + "/password", Token: "rubbish",
			Body: `{"user":{"original_password":"ana-pw","password":"néw ☃"}}`,
		})
		c.status("change", a, 204)
		if a.Body != "" || a.Header.Get("Content-Type") != "" || a.Header.Get("Vary") != "X-Auth-Token" {
			t.Errorf("answer %v %q", a.Header, a.Body)
		}
		c.status("the token of before", c.validate(c.Admin(), token, ""), 404)
		c.status("ben's token", c.validate(c.Admin(), other, ""), 200)
		c.bare("the old password", c.try("ana", "ana-pw", "p1"))
		c.status("the new password", c.try("ana", "néw ☃", "p1"), 201)
		c.status("without history the same will do", c.change("ana", "néw ☃", "néw ☃"), 204)
		c.expire("ana")
		c.status("an expired one will do", c.change("ana", "néw ☃", "newer"), 204)
		c.status("and is replaced", c.try("ana", "newer", "p1"), 201)
	})
}

// TestPasswordChangeRules: the rules for a new password of one's own, and the
// order in which they are asked.
func TestPasswordChangeRules(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		days := 90
		c = c.again(func(c *conf.Config) {
			c.Default.StrictPasswordCheck = true
			s := &c.SecurityCompliance
			s.PasswordRegex, s.PasswordRegexDescription = `^.{4}`, "four characters"
			s.UniqueLastPasswordCount, s.MinimumPasswordAge, s.PasswordExpiresDays = 3, 2, &days
		})
		refuse := func(what, original, password string, status int, text string) {
			t.Helper()
			a := c.change("ana", original, password)
			c.status(what, a, status)
			if got := message(t, a); !strings.Contains(got, text) {
				t.Errorf("%s: %q, want %q in it", what, got, text)
			}
		}
		const age, history, locked = "minimum password age", "previous password", "password policy disallowing password changes"
		refuse("too long", "ana-pw", strings.Repeat("x", 73), 403, "less than or equal to 72")
		refuse("too short", "ana-pw", "abc", 400, "four characters")
		refuse("the present one", "ana-pw", "ana-pw", 400, history)
		c.status("one that an administrator set may go at once", c.change("ana", "ana-pw", "second"), 204)
		if p := c.account("ana").Password; p.ExpiresAt == nil || p.ExpiresAt.Sub(c.now()) < 89*24*time.Hour {
			t.Errorf("expires at %v", p.ExpiresAt)
		}
		refuse("too young, before the history", "second", "second", 400, age)
		refuse("too weak, before the age", "second", "abc", 400, "four characters")
		c.pass(47 * time.Hour)
		refuse("after 47 hours", "second", "third", 400, age)
		c.pass(2 * time.Hour)
		refuse("the one before", "second", "ana-pw", 400, history)
		c.status("after 49 hours", c.change("ana", "second", "third"), 204)
		c.pass(49 * time.Hour)
		refuse("the one before the one before", "third", "ana-pw", 400, history)
		c.status("a fourth", c.change("ana", "third", "fourth"), 204)
		c.pass(49 * time.Hour)
		c.status("the first comes round after three others", c.change("ana", "fourth", "ana-pw"), 204)
		c.update("ana", `{"password":"reset"}`)
		c.status("a reset has no age", c.change("ana", "reset", "fifth"), 204)
		c.update("ana", `{"options":{"lock_password":true}}`)
		refuse("not allowed, before the age", "fifth", "sixth", 400, locked)
		refuse("too weak, before that", "fifth", "abc", 400, "four characters")
		c.update("ana", `{"options":{"lock_password":null}}`)
		refuse("too young", "fifth", "sixth", 400, age)
	})
}
