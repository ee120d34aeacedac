package test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
)

// account reads a user.
func (c *cloud) account(user string) identity.Account {
	c.t.Helper()
	a, err := db.One(context.Background(), c.DB, identity.AccountByID(c.ids[user]))
	c.must(err)
	return a
}

// passwordRows are the rows of a user's passwords, the oldest first.
func (c *cloud) passwordRows(user string) []identity.Password {
	c.t.Helper()
	rows, err := db.All(context.Background(), c.DB, db.Query[identity.Password]{
		Text: `select p.id, p.password_hash, p.created_at, p.expires_at, p.self_service from password p
join local_user l on l.id = p.local_user_id where l.user_id = $1 order by p.created_at_int`,
		Args: []any{c.ids[user]},
		Scan: func(r db.Row) (p identity.Password, err error) {
			var hash *string
			if err = r.Scan(&p.ID, &hash, &p.CreatedAt, &p.ExpiresAt, &p.SelfService); hash != nil {
				p.Hash = *hash
			}
			return p, err
		},
	})
	c.must(err)
	return rows
}

// TestUserUpdateRevokes: disabling a user or setting his password ends his
// tokens.
func TestUserUpdateRevokes(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		for change, undo := range map[string]string{`{"enabled":false}`: `{"enabled":true}`, `{"password":"other"}`: `{"password":"ana-pw"}`} {
			c.pass(2 * time.Second)
			unseen := c.as("ana", "p1")
			c.update("ana", change)
			c.update("ana", undo)
			c.status("one that nobody asked about before "+undo, c.validate(c.Admin(), unseen, ""), 404)
			c.pass(2 * time.Second) // an event takes the tokens of its second with it
			token := c.as("ana", "p1")
			c.update("ana", `{"description":"x"}`)
			c.status("after a mere description", c.validate(c.Admin(), token, ""), 200)
			c.update("ana", change)
			c.status("after "+change, c.validate(c.Admin(), token, ""), 404)
			c.bare("login after "+change, c.try("ana", "ana-pw", "p1"))
			c.bare("use after "+change, c.call("GET", "/v3/auth/projects", token, nil))
			c.update("ana", undo)
			c.status("after "+undo, c.validate(c.Admin(), token, ""), 404)
			c.pass(2 * time.Second)
			c.status("new after "+undo, c.validate(c.Admin(), c.as("ana", "p1"), ""), 200)
		}
		if other := c.as("ben", "p1"); c.validate(c.Admin(), other, "").Status != 200 {
			t.Error("ben's token went too")
		}
		c.update("ana", `{"password":null}`)
		c.bare("with no password at all", c.try("ana", "", "p1"))
	})
}

// TestUserUpdateForgetsFailures: any update of an enabled user lifts his lock.
func TestUserUpdateForgetsFailures(t *testing.T) {
	three := 3
	eachCloud(t, func(c *conf.Config) { c.SecurityCompliance.LockoutFailureAttempts = &three }, func(c *cloud) {
		lock := func() {
			for range 3 {
				c.bare("wrong", c.try("ana", "wrong", "p1"))
			}
			if a := c.account("ana"); a.FailedAuthCount != 3 || a.FailedAuthAt == nil {
				t.Fatalf("%d failures at %v", a.FailedAuthCount, a.FailedAuthAt)
			}
		}
		for _, change := range []string{`{"description":"x"}`, `{"enabled":true}`, `{"password":"ana-pw"}`, `{"options":{"lock_password":null}}`} {
			lock()
			c.update("ana", change)
			if a := c.account("ana"); a.FailedAuthCount != 0 || a.FailedAuthAt != nil {
				t.Errorf("after %s: %d failures at %v", change, a.FailedAuthCount, a.FailedAuthAt)
			}
			c.status("after "+change, c.try("ana", "ana-pw", "p1"), 201)
		}
		lock()
		c.update("ana", `{"enabled":false}`)
		c.update("ana", `{"description":"y"}`)
		if a := c.account("ana"); a.FailedAuthCount != 3 {
			t.Errorf("updates of a disabled user left %d failures", a.FailedAuthCount)
		}
	})
}

// TestUserUpdateWakes: who was idle for too long is disabled until an
// administrator enables him, and no other change does that.
func TestUserUpdateWakes(t *testing.T) {
	days := 30
	eachCloud(t, nil, func(c *cloud) {
		c.sql(`update "user" set last_active_at = $1 where id = $2`, db.Date(c.now().AddDate(0, 0, -30)), c.ids["ana"])
		c.status("nobody counts the days", c.try("ana", "ana-pw", "p1"), 201)
		c.sql(`update "user" set last_active_at = $1 where id = $2`, db.Date(c.now().AddDate(0, 0, -30)), c.ids["ana"])
		d := c.again(func(c *conf.Config) { c.SecurityCompliance.DisableUserAccountDaysInactive = &days })
		d.bare("idle for 30 days", d.try("ana", "ana-pw", "p1"))
		if got := d.update("ana", `{"description":"x"}`).At(t, "user", "enabled"); got != false {
			t.Errorf("an idle user is shown as enabled: %v", got)
		}
		d.bare("after another change", d.try("ana", "ana-pw", "p1"))
		if got := d.update("ana", `{"enabled":true}`).At(t, "user", "enabled"); got != true {
			t.Errorf("enabled: %v", got)
		}
		if a := d.account("ana"); a.LastActiveAt == nil || a.LastActiveAt.Format(time.DateOnly) != c.now().UTC().Format(time.DateOnly) {
			t.Errorf("last active at %v", a.LastActiveAt)
		}
		d.status("enabled", d.try("ana", "ana-pw", "p1"), 201)
		d.sql(`update "user" set last_active_at = $1 where id = $2`, db.Date(c.now().AddDate(0, 0, -31)), c.ids["ben"])
		d.bare("ben", d.try("ben", "ben-pw", "p1"))
		d.update("ben", `{"options":{"ignore_user_inactivity":true}}`)
		d.update("ben", `{"enabled":true}`)
		d.sql(`update "user" set last_active_at = $1 where id = $2`, db.Date(c.now().AddDate(0, 0, -31)), c.ids["ben"])
		d.status("ben, exempt", d.try("ben", "ben-pw", "p1"), 201)
	})
}

// TestUserUpdatePasswordRules: what an administrator's reset keeps to.
func TestUserUpdatePasswordRules(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		strict := c.again(func(c *conf.Config) {
			c.Default.StrictPasswordCheck = true
			c.SecurityCompliance.PasswordRegex = `^(?=.*\d).{4}`
		})
		refuse := func(password string, status int, text string) {
			t.Helper()
			a := strict.call("PATCH", c.userPath("ana"), c.Admin(), `{"user":{"password":"`+password+`"}}`)
			c.status(password, a, status)
			if got := message(t, a); !strings.HasPrefix(got, text) {
				t.Errorf("%.20s: %q, want %q", password, got, text)
			}
		}
		refuse(strings.Repeat("é", 36)+"1", 403, "The password length must be less than or equal to 72")
		refuse("none", 400, "The password does not match the requirements: None.")
		strict.update("ana", `{"password":"1234 and more: the rule has no end"}`)
		strict.update("ana", `{"password":"`+strings.Repeat("é", 34)+`1234"}`)

		days := 7
		aging := c.again(func(c *conf.Config) { c.SecurityCompliance.PasswordExpiresDays = &days })
		if got := aging.update("ana", `{"description":"x"}`).At(t, "user", "password_expires_at"); got != nil {
			t.Errorf("a password of before expires at %v", got)
		}
		from := c.now()
		got, _ := aging.update("ana", `{"password":"ana-pw"}`).At(t, "user", "password_expires_at").(string)
		at, err := time.Parse("2006-01-02T15:04:05.000000", got)
		if early, late := from.AddDate(0, 0, 7).Truncate(time.Second), c.now().AddDate(0, 0, 7); err != nil || at.Before(early.UTC()) || at.After(late.UTC()) || at.Nanosecond() != 0 {
			t.Errorf("expires at %q, want whole seconds between %v and %v", got, early, late)
		}
		login := aging.try("ana", "ana-pw", "p1")
		if login.At(t, "token", "user", "password_expires_at") != got {
			t.Errorf("the token says %v, the user %v", login.At(t, "token", "user", "password_expires_at"), got)
		}
		c.pass(7 * 24 * time.Hour)
		if a := aging.try("ana", "ana-pw", "p1"); !strings.HasPrefix(message(t, a), "The password is expired") {
			t.Errorf("seven days on: %d %s", a.Status, a.Body)
		}
		aging.update("ana", `{"options":{"ignore_password_expiry":true}}`)
		aging.status("exempt", aging.try("ana", "ana-pw", "p1"), 201)
		if got := aging.update("ana", `{"password":"ana-pw"}`).At(t, "user", "password_expires_at"); got != nil {
			t.Errorf("exempt: a new password expires at %v", got)
		}
	})
}

// TestUserUpdateFirstUse: a password that somebody else has set must be
// changed first.
func TestUserUpdateFirstUse(t *testing.T) {
	eachCloud(t, nil, func(c *cloud) {
		c = c.again(func(c *conf.Config) { c.SecurityCompliance.ChangePasswordUponFirstUse = true })
		c.update("ana", `{"password":"reset"}`)
		a := c.try("ana", "reset", "p1")
		c.status("first use", a, 401)
		if got := message(t, a); !strings.HasPrefix(got, "The password is expired and needs to be changed for user: "+c.ids["ana"]+".") {
			t.Errorf("first use: %q", got)
		}
		c.status("change", c.change("ana", "reset", "own"), 204)
		c.status("own password", c.try("ana", "own", "p1"), 201)
		c.update("ana", `{"options":{"ignore_change_password_upon_first_use":true},"password":"reset-2"}`)
		c.status("exempt", c.try("ana", "reset-2", "p1"), 201)
	})
}

// TestPasswordRows: what is left in the table, which Python reads too.
func TestPasswordRows(t *testing.T) {
	for n, want := range map[int]int{0: 2, 1: 2, 3: 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachCloud(t, nil, func(c *cloud) {
				c = c.again(func(c *conf.Config) { c.SecurityCompliance.UniqueLastPasswordCount = n })
				for i := range 6 {
					c.update("ana", fmt.Sprintf(`{"password":"password-%d"}`, i))
				}
				rows := c.passwordRows("ana")
				if len(rows) != want {
					t.Fatalf("%d rows, want %d", len(rows), want)
				}
				for i, p := range rows {
					last := i == len(rows)-1
					if (p.ExpiresAt == nil) != last || !last && p.ExpiresAt.After(c.now()) || p.SelfService {
						t.Errorf("row %d of %d: expires at %v, self service %v", i, len(rows), p.ExpiresAt, p.SelfService)
					}
				}
				c.status("change", c.change("ana", "password-5", "own"), 204)
				rows = c.passwordRows("ana")
				if last := rows[len(rows)-1]; !last.SelfService || last.ExpiresAt != nil || len(rows) != want {
					t.Errorf("after a change of his own: %+v of %d rows", last, len(rows))
				}
				c.update("ana", `{"password":null}`)
				rows = c.passwordRows("ana")
				if last := rows[len(rows)-1]; last.Hash != "" || last.SelfService {
					t.Errorf("without a password: %+v", last)
				}
			})
		})
	}
}
