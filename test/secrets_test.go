package test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// secrets gathers what must stay secret.
type secrets map[string]string // what it is, by its text

func (s secrets) add(what string, texts ...string) {
	for _, text := range texts {
		if len(text) >= 6 {
			s[text] = what
		}
	}
}

// in tells the first of the secrets that a text holds.
func (s secrets) in(text string) string {
	for secret, what := range s {
		if i := strings.Index(text, secret); i >= 0 {
			return fmt.Sprintf("%s: …%s…", what, text[max(i-150, 0):min(i+len(secret)+50, len(text))])
		}
	}
	return ""
}

// stored adds what lies in the database and in the key folder.
func (s secrets) stored(c *cloud) {
	c.t.Helper()
	hashes, err := db.All(context.Background(), c.DB, db.Query[string]{
		Text: `select password_hash from password where password_hash is not null`,
		Scan: func(r db.Row) (hash string, err error) { err = r.Scan(&hash); return hash, err },
	})
	c.must(err)
	s.add("hash", hashes...)
	files, err := filepath.Glob(filepath.Join(c.Conf.FernetTokens.KeyRepository, "*"))
	c.must(err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		c.must(err)
		s.add("key", strings.TrimSpace(string(text)))
	}
}

// TestSecrets: whatever happens, no password, token, receipt, hash or key is in
// the log at its most talkative, in a metric, or in an answer that does not
// hand it out.
func TestSecrets(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var log bytes.Buffer
			before := slog.Default()
			defer slog.SetDefault(before)
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
			three := 3
			set := func(c *conf.Config) {
				withTOTP(c)
				c.Default.AdminToken = "static-admin-token-7f3a"
				c.SecurityCompliance.LockoutFailureAttempts = &three
				c.SecurityCompliance.UniqueLastPasswordCount = 2
			}
			c := newCloud(t, harness.Options{Engine: engine, Log: &log, Conf: set})
			s := secrets{}
			s.add("admin_token", "static-admin-token-7f3a")
			s.add("password", harness.Password, "ana-pw", "ben-pw")
			everything(c, s)
			talkative := *c
			talkative.Server = harness.New(t, harness.Options{
				DB: c.DB, Keys: c.Conf.FernetTokens.KeyRepository, Bare: true, Now: c.now, Tick: c.tick, Log: &log,
				Conf: func(c *conf.Config) {
					set(c)
					c.Default.InsecureDebug, c.Default.StrictPasswordCheck = true, true
					c.SecurityCompliance.PasswordRegex = `^\d`
				},
			})
			everything(&talkative, s)
			s.stored(c)
			if strings.Count(log.String(), "\n") < 100 {
				t.Errorf("the log has few lines:\n%s", log.String())
			}
			for what, text := range map[string]string{"log": log.String(), "metrics": metrics(t, c.Server)} {
				if found := s.in(text); found != "" {
					t.Errorf("the %s holds a %s", what, found)
				}
			}
		})
	}
}

// everything makes a call of each kind, and adds to the secrets what it sends
// and gains.
func everything(c *cloud, s secrets) {
	c.pass(2 * time.Second)
	do := func(call harness.Call) harness.Answer {
		c.t.Helper()
		a := c.Do(call)
		s.add("token", a.Header.Get("X-Subject-Token"))
		s.add("receipt", a.Header.Get("Openstack-Auth-Receipt"))
		if found := (secrets{"Hunter2": "password"}).in(a.Body); found != "" {
			c.t.Errorf("%s %s answers a %s", call.Method, call.Path, found)
		}
		return a
	}
	login := func(body any, header map[string]string) harness.Answer {
		c.t.Helper()
		return do(harness.Call{Method: "POST", Path: "/v3/auth/tokens?password=Hunter2-query", Body: body, Header: header})
	}
	s.add("password", "Hunter2")
	token := login(harness.Login("ana", "ana-pw", harness.OnProject("p1")), nil).Header.Get("X-Subject-Token")
	other := login(harness.Login("ana", "ana-pw", harness.OnProject("p2")), nil).Header.Get("X-Subject-Token")
	admin := login(harness.Login("admin", harness.Password, harness.OnProject("admin")), nil).Header.Get("X-Subject-Token")
	if token == "" || admin == "" {
		c.t.Fatal("no tokens")
	}
	for _, body := range []any{
		harness.Login("ana", "Hunter2-wrong", nil), harness.Login("nobody", "Hunter2-wrong", nil), harness.Login("ana", "Hunter2"+strings.Repeat("x", 5000), nil),
		harness.Login("ana", "ana-pw", harness.OnProject("none")),
		`{"auth":{"identity":{"methods":["password"],"password":{"user":{"id":"x","password":["Hunter2"]}}}}}`,
		`{"auth":{"identity":{"methods":["password"],"password":{"user":{"id":"x","password":{"Hunter2":1}}}}}}`,
		`{"auth":{"identity":{"methods":["password"],"password":"Hunter2"}}}`,
		`{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"ana","password":"Hunter2"}}}}}`,
		`{"auth":{"identity":{"methods":["application_credential"],"application_credential":{"id":"x","secret":"Hunter2"}}}}`,
		`{"auth":{"identity":{"methods":["totp"],"totp":{"user":{"id":"x","passcode":"Hunter2"}}}}}`,
		`{"auth":{"identity":{"methods":["password"],"password":{"user":{"password":"Hunter2`,
		`{"auth":{"identity":{"methods":["token"],"token":{"id":"` + token + `"}},"scope":{"project":{"id":"none"}}}}`,
		`{"auth":{"identity":{"methods":["token"],"token":{"id":"` + token[:100] + `"}}}}`,
		`{"auth":{"identity":{"methods":["token"],"token":{"id":["` + token + `"]}}}}`,
		"Hunter2",
	} {
		login(body, nil)
		login(body, map[string]string{"Content-Type": "text/plain", "Authorization": "Basic Hunter2"})
	}
	tokens := func(method, caller, subject string) {
		do(harness.Call{Method: method, Path: "/v3/auth/tokens?token=" + token, Token: caller, Subject: subject, Header: map[string]string{"X-Service-Token": other}})
	}
	for _, caller := range []string{token, token + "x", token[:90], "static-admin-token-7f3a", "static-admin-token-7f3a" + "b", ""} {
		tokens("GET", caller, other)
		tokens("HEAD", caller, other+"x")
		do(harness.Call{Method: "GET", Path: "/v3/regions", Token: caller})
		do(harness.Call{Method: "GET", Path: "/v3/nothing", Token: caller})
		do(harness.Call{Method: "PATCH", Path: c.userPath("ben"), Token: caller, Body: `{"user":{"password":"Hunter2-by-whom"}}`})
	}
	tokens("DELETE", admin, other)
	tokens("GET", admin, other)
	login(`{"auth":{"identity":{"methods":["token"],"token":{"id":"`+other+`"}}}}`, nil)
	passwordsChange(c, do, admin)
	receipts(c, do, admin)
	failures(c, do)
	c.update("ana", `{"enabled":true,"options":{"multi_factor_auth_rules":null}}`)
}

// passwordsChange sets passwords in every way there is.
func passwordsChange(c *cloud, do func(harness.Call) harness.Answer, admin string) {
	for _, user := range []string{
		`{"password":"Hunter2-reset"}`, `{"password":"1Hunter2-reset"}`, `{"password":"Hunter2` + strings.Repeat("x", 100) + `"}`, `{"password":["Hunter2"]}`, `{"password":null,"name":"ana"}`,
		`{"password":"1Hunter2-reset","options":{"lock_password":"Hunter2"}}`, `{"password":"1Hunter2-reset"}`,
	} {
		do(harness.Call{Method: "PATCH", Path: c.userPath("ben"), Token: admin, Body: `{"user":` + user + `}`})
	}
	for _, user := range []string{
		`{"original_password":"Hunter2-wrong","password":"1Hunter2-new"}`, `{"original_password":"1Hunter2-reset","password":"1Hunter2-reset"}`,
		`{"original_password":"1Hunter2-reset","password":"Hunter2-weak"}`, `{"original_password":"1Hunter2-reset","password":"1Hunter2-new"}`,
		`{"original_password":["Hunter2"],"password":1}`, `{"original_password":"Hunter2","password":"Hunter2","more":"Hunter2"}`,
	} {
		do(harness.Call{Method: "POST", Path: c.userPath("ben") + "/password", Body: `{"user":` + user + `}`})
	}
	for range 4 {
		do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("mia", "Hunter2-until-locked", nil)})
	}
}

// receipts hands a receipt out and presents it where it is no good.
func receipts(c *cloud, do func(harness.Call) harness.Answer, admin string) {
	do(harness.Call{Method: "PATCH", Path: c.userPath("ana"), Token: admin, Body: `{"user":{"options":{"multi_factor_auth_rules":[["password","totp"]]}}}`})
	receipt := do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "ana-pw", nil)}).Header.Get("Openstack-Auth-Receipt")
	if receipt == "" {
		c.t.Fatal("no receipt")
	}
	header := map[string]string{"Openstack-Auth-Receipt": receipt}
	do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "ana-pw", nil), Header: header})
	do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("admin", harness.Password, nil), Header: header})
	do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("ana", "ana-pw", nil), Header: map[string]string{"Openstack-Auth-Receipt": admin}})
}

// failures takes tables away, so that statements with secrets in their
// arguments fail.
func failures(c *cloud, do func(harness.Call) harness.Answer) {
	admin := c.Admin()
	for _, table := range []string{"password", "user_option", "revocation_event"} {
		c.sql(`alter table ` + table + ` rename to gone`)
		for status, call := range []harness.Call{
			{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("admin", harness.Password, nil)},
			{Method: "PATCH", Path: c.userPath("ben"), Token: admin, Body: `{"user":{"password":"1Hunter2-lost"}}`},
			{Method: "POST", Path: c.userPath("ben") + "/password", Body: `{"user":{"original_password":"1Hunter2-new","password":"1Hunter2-lost"}}`},
			{Method: "GET", Path: "/v3/auth/tokens", Token: admin, Subject: admin},
		} {
			if a := do(call); a.Status >= 500 && a.At(c.t, "error", "code") != float64(a.Status) {
				c.t.Errorf("call %d without %s: %s", status, table, a.Body)
			}
		}
		c.sql(`alter table gone rename to ` + table)
	}
}
