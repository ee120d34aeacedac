package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// badInput is a request that is wrong and the answer that says so.
type badInput struct {
	name   string
	call   harness.Call
	status int
}

func post(body any) harness.Call {
	return harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: body}
}

func user(fields string) harness.Call {
	return post(`{"auth":{"identity":{"methods":["password"],"password":{"user":{` + fields + `}}}}}`)
}

func scope(text string) harness.Call {
	return post(`{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"admin","domain":{"id":"default"},"password":"x"}}},"scope":` + text + `}}`)
}

func deep(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }

var long = strings.Repeat("x", 10_000)

// logins are refused before anybody is known to be there.
var logins = []badInput{
	{"broken JSON", post(`{"auth":`), 400},
	{"no JSON", post(`auth`), 400},
	{"list", post(`[1]`), 400},
	{"number", post(`1`), 400},
	{"null", post(`null`), 400},
	{"empty", post(``), 400},
	{"auth null", post(`{"auth":null}`), 400},
	{"auth a list", post(`{"auth":[1]}`), 400},
	{"auth a text", post(`{"auth":"x"}`), 400},
	{"two values", post(`{} {}`), 400},
	{"identity a list", post(`{"auth":{"identity":[]}}`), 400},
	{"methods an object", post(`{"auth":{"identity":{"methods":{}}}}`), 400},
	{"methods of numbers", post(`{"auth":{"identity":{"methods":[1]}}}`), 400},
	{"methods nested", post(`{"auth":{"identity":{"methods":[["password"]]}}}`), 400},
	{"no methods", post(`{"auth":{"identity":{"methods":[]}}}`), 401},
	{"method without data", post(`{"auth":{"identity":{"methods":["password"]}}}`), 400},
	{"unknown method", post(`{"auth":{"identity":{"methods":["kerberos"],"kerberos":{}}}}`), 401},
	{"method not built", post(`{"auth":{"identity":{"methods":["totp"],"totp":{}}}}`), 401},
	{"method of 10,000 characters", post(fmt.Sprintf(`{"auth":{"identity":{"methods":[%q],%q:{}}}}`, long, long)), 401},
	{"1,000 methods", post(`{"auth":{"identity":{"methods":["password"` + strings.Repeat(`,"password"`, 999) + `],"password":{"user":{"id":"x","password":"x"}}}}}`), 401},
	{"deep nesting", post(`{"auth":` + deep(5000) + `}`), 400},
	{"deep lists", post(strings.Repeat("[", 50_000)), 400},
	{"user a list", post(`{"auth":{"identity":{"methods":["password"],"password":{"user":[]}}}}`), 400},
	{"user missing", post(`{"auth":{"identity":{"methods":["password"],"password":{}}}}`), 400},
	{"password null", user(`"id":"x","password":null`), 400},
	{"password a number", user(`"id":"x","password":1`), 400},
	{"password a list", user(`"id":"x","password":["x"]`), 400},
	{"no password", user(`"id":"x"`), 401},
	{"id a number", user(`"id":5,"password":"x"`), 400},
	{"name without domain", user(`"name":"x","password":"x"`), 400},
	{"domain without id and name", user(`"name":"x","domain":{},"password":"x"`), 400},
	{"domain a text", user(`"name":"x","domain":"default","password":"x"`), 400},
	{"neither id nor name", user(`"password":"x"`), 400},
	{"id of 10,000 characters", user(`"id":"` + long + `","password":"x"`), 401},
	{"name of 256 characters", user(`"name":"` + strings.Repeat("n", 256) + `","domain":{"id":"default"},"password":"x"`), 400},
	{"name of 255 characters", user(`"name":"` + strings.Repeat("本", 255) + `","domain":{"id":"default"},"password":"x"`), 401},
	{"domain name of 256 characters", user(`"name":"x","domain":{"name":"` + strings.Repeat("n", 256) + `"},"password":"x"`), 400},
	{"NUL in the name", user(`"name":"a\u0000b","domain":{"id":"default"},"password":"x"`), 401},
	{"NUL in the id", user(`"id":"a\u0000b","password":"x"`), 401},
	{"NUL in the domain", user(`"name":"x","domain":{"id":"a\u0000"},"password":"x"`), 401},
	{"NUL in the password", user(`"name":"admin","domain":{"id":"default"},"password":"a\u0000b"`), 401},
	{"line end in the name", user(`"name":"a\nb","domain":{"id":"default"},"password":"x"`), 401},
	{"lone surrogate in the name", user(`"name":"a\ud800","domain":{"id":"default"},"password":"x"`), 400},
	{"invalid UTF-8 in the name", user("\"name\":\"a\xff\",\"domain\":{\"id\":\"default\"},\"password\":\"x\""), 400},
	{"invalid UTF-8 in the password", user("\"id\":\"a\",\"password\":\"\xc3\x28\""), 400},
	{"password of 5,000 characters", user(`"name":"admin","domain":{"id":"default"},"password":"` + long[:5000] + `"`), 401},
	{"scope null", scope(`null`), 400},
	{"scope a list", scope(`[]`), 400},
	{"scope a number", scope(`1`), 400},
	{"scope empty", scope(`{}`), 400},
	{"scope of two kinds", scope(`{"project":{"id":"x"},"domain":{"id":"x"}}`), 400},
	{"scope a word", scope(`"zzz"`), 400},
	{"scope the word project", scope(`"project"`), 400},
	{"scope project a text", scope(`{"project":"x"}`), 400},
	{"scope project without domain", scope(`{"project":{"name":"x"}}`), 400},
	{"scope trust a text", scope(`{"OS-TRUST:trust":"x"}`), 400},
	{"scope trust unknown", scope(`{"OS-TRUST:trust":{"id":"x"}}`), 401},
	{"scope system all a text", scope(`{"system":{"all":"x"}}`), 400},
	{"NUL in the scope", scope(`{"project":{"id":"a\u0000"}}`), 401},
	{"scope id of 10,000 characters", scope(`{"project":{"id":"` + long + `"}}`), 401},
	{"token null", post(`{"auth":{"identity":{"methods":["token"],"token":{"id":null}}}}`), 400},
	{"token rubbish", post(`{"auth":{"identity":{"methods":["token"],"token":{"id":"x"}}}}`), 404},
	{"token of 10,000 characters", post(`{"auth":{"identity":{"methods":["token"],"token":{"id":"` + long + `"}}}}`), 404},
	{"body too big", post(strings.Repeat("x", 114_689)), 413},
	{"wrong content type", harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: `{}`, Header: map[string]string{"Content-Type": "text/plain"}}, 400},
	{"receipt rubbish", harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("admin", harness.Password, nil), Header: map[string]string{"Openstack-Auth-Receipt": "x\x7f"}}, 401},
}

// calls are made by the administrator.
var calls = []badInput{
	{"subject missing", harness.Call{Method: "GET", Path: "/v3/auth/tokens"}, 404},
	{"subject of 10,000 characters", harness.Call{Method: "GET", Path: "/v3/auth/tokens", Subject: long}, 404},
	{"unknown path", harness.Call{Method: "GET", Path: "/v3/nothing"}, 404},
	{"double slash", harness.Call{Method: "GET", Path: "//v3/regions"}, 404},
	{"wrong method", harness.Call{Method: "PUT", Path: "/v3/auth/tokens", Body: `{}`}, 405},
	{"invented method", harness.Call{Method: "BREW", Path: "/v3/regions"}, 405},
	{"unknown user", harness.Call{Method: "PATCH", Path: "/v3/users/none", Body: `{"user":{"description":"x"}}`}, 404},
	{"user id of 10,000 characters", harness.Call{Method: "PATCH", Path: "/v3/users/" + long, Body: `{"user":{"description":"x"}}`}, 404},
	{"NUL in the user id", harness.Call{Method: "PATCH", Path: "/v3/users/a%00b", Body: `{"user":{"description":"x"}}`}, 404},
	{"user empty", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":{}}`}, 400},
	{"user a list", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":[]}`}, 400},
	{"user name a number", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":{"name":1}}`}, 400},
	{"user name blank", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":{"name":"  "}}`}, 400},
	{"user enabled a list", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":{"enabled":[]}}`}, 400},
	{"user option unknown", harness.Call{Method: "PATCH", Path: "/v3/users/x", Body: `{"user":{"options":{"zzz":true}}}`}, 400},
	{"password change without the old", harness.Call{Method: "POST", Path: "/v3/users/x/password", Body: `{"user":{"password":"x"}}`}, 400},
	{"password change of nobody", harness.Call{Method: "POST", Path: "/v3/users/x/password", Body: `{"user":{"password":"x","original_password":"y"}}`}, 401},
	{"NUL in a region", harness.Call{Method: "POST", Path: "/v3/regions", Body: `{"region":{"id":"a\u0000"}}`}, 400},
	{"region id of 10,000 characters", harness.Call{Method: "POST", Path: "/v3/regions", Body: `{"region":{"id":"` + long + `"}}`}, 400},
	{"region path of 10,000 characters", harness.Call{Method: "GET", Path: "/v3/regions/" + long}, 404},
	{"regions by rubbish", harness.Call{Method: "GET", Path: "/v3/regions?zzz=1"}, 400},
}

// TestBadInput: whatever is sent, the answer is a clear error in Keystone's
// form, never a 500.
func TestBadInput(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := harness.New(t, harness.Options{Engine: engine})
			for _, row := range logins {
				t.Run(row.name, func(t *testing.T) { row.check(t, s.Do(row.call)) })
			}
			admin := s.Admin()
			for _, row := range calls {
				row.call.Token = admin
				t.Run("call/"+row.name, func(t *testing.T) { row.check(t, s.Do(row.call)) })
			}
			if got := s.Token("admin", harness.Password, nil); got == "" {
				t.Error("the server does not work any more")
			}
		})
	}
}

func (b badInput) check(t *testing.T, a harness.Answer) {
	t.Helper()
	if a.Status != b.status {
		t.Fatalf("status %d, want %d: %.300s", a.Status, b.status, a.Body)
	}
	if ct := a.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	e, _ := a.JSON(t)["error"].(map[string]any)
	if e["code"] != float64(a.Status) || e["message"] == "" || e["title"] == "" {
		t.Errorf("no error in Keystone's form: %.300s", a.Body)
	}
	if a.Status == http.StatusUnauthorized && a.Header.Get("WWW-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
	if strings.Contains(a.Body, harness.Password) {
		t.Error("the answer repeats a password")
	}
}
