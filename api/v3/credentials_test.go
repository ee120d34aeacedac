package v3_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/policy"
)

func TestCredentials(t *testing.T) {
	const all, one = "/v3/credentials", "/v3/credentials/{ID}"
	long := strings.Repeat("é", 65)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		script(t, newStand(t, setup{db: d}), []step{
			{"none yet", "GET", all, "tok-admin", "", 200, `{"credentials": [], "links": {"next": null, "self": "http://127.0.0.1:5000/v3/credentials", "previous": null}}` + "\n"},
			{"list without a token", "GET", all, "", "", 401, ""},
			{"nothing", "POST", all, "tok-admin", `{}`, 400, ""},
			{"400 before 401", "POST", all, "", `{}`, 400, ""},
			{"no blob", "POST", all, "tok-admin", `{"credential": {"type": "x", "user_id": "u"}}`, 400, ""},
			{"no type", "POST", all, "tok-admin", `{"credential": {"blob": "x", "user_id": "u"}}`, 400, ""},
			{"no user", "POST", all, "tok-admin", `{"credential": {"blob": "x", "type": "x"}}`, 400, ""},
			{"a blob of an object", "POST", all, "tok-admin", `{"credential": {"blob": {}, "type": "x", "user_id": "u"}}`, 400, ""},
			{"a NUL in the type", "POST", all, "tok-admin", `{"credential": {"blob": "b", "type": "x\u0000", "user_id": "u"}}`, 400, ""},
			{"a long user", "POST", all, "tok-admin", `{"credential": {"blob": "b", "type": "x", "user_id": "` + long + `"}}`, 400, ""},
			{"for another", "POST", all, "tok-member", `{"credential": {"blob": "b", "type": "x", "user_id": "u-admin"}}`, 403, "identity:create_credential"},
			{"without a token", "POST", all, "", `{"credential": {"blob": "b", "type": "x", "user_id": "u"}}`, 401, ""},
			{"for another by a dash", "POST", all, "tok-member", `{"credential": {"blob": "b", "type": "x", "user_id": "u-member", "user-id": "u-admin"}}`, 201, `"user_id": "u-member", "project_id": null, "type": "x", "blob": "b", `},
			{"take it back", "DELETE", one, "tok-member", "", 204, ""},
			{"for another by a dash alone", "POST", all, "tok-member", `{"credential": {"blob": "b", "type": "x", "user-id": "u-member"}}`, 400, ""},
			{"of an administrator", "POST", all, "tok-admin", `{"credential": {"blob": "a\u0000€", "type": "cert", "user_id": "u-admin", "project_id": "p", "a-b": 1, "links": {}, "key_hash": "k"}, "more": 1}`, 201, `{"credential": {"a_b": 1, "id": "`},
			{"show it", "GET", one, "tok-admin", "", 200, `"user_id": "u-admin", "project_id": "p", "type": "cert", "blob": "a\u0000\u20ac", "links": {"self": "http://127.0.0.1:5000/v3/credentials/{ID}"}}}`},
			{"show it to another", "GET", one, "tok-member", "", 403, "identity:get_credential"},
			{"change it by another", "PATCH", one, "tok-member", `{"credential": {"blob": "x"}}`, 403, "identity:update_credential"},
			{"delete it by another", "DELETE", one, "tok-member", "", 403, "identity:delete_credential"},
			{"list to another", "GET", all, "tok-member", "", 200, `{"credentials": [], `},
			{"of a member", "POST", all, "tok-member", `{"credential": {"blob": "b", "type": "totp", "user_id": "u-member"}}`, 201, `"project_id": null, "type": "totp", "blob": "b", `},
			{"list to him", "GET", all, "tok-member", "", 200, `{"credentials": [{"id": "{ID}", `},
			{"list to him cut behind the rule", "GET", all + "?limit=1", "tok-member", "", 200, `{"credentials": [{"id": "{ID}", `},
			{"by user", "GET", all + "?user_id=u-member", "tok-admin", "", 200, `{"credentials": [{"id": "{ID}", `},
			{"by type", "GET", all + "?type=totp", "tok-admin", "", 200, `{"credentials": [{"id": "{ID}", `},
			{"by a part of the type", "GET", all + "?type__contains=ot", "tok-admin", "", 200, `{"credentials": [{"id": "{ID}", `},
			{"by type of another case", "GET", all + "?type=TOTP", "tok-admin", "", 200, `{"credentials": [], `},
			{"patch nothing", "PATCH", one, "tok-member", `{"credential": {}}`, 400, ""},
			{"patch the owner", "PATCH", one, "tok-member", `{"credential": {"blob": "c", "user_id": "u-admin"}}`, 400, ""},
			{"patch the type", "PATCH", one, "tok-member", `{"credential": {"blob": "c", "type": "ec2"}}`, 400, ""},
			{"patch the project", "PATCH", one, "tok-member", `{"credential": {"blob": "c", "project_id": "p"}}`, 400, ""},
			{"patch the id", "PATCH", one, "tok-member", `{"credential": {"blob": "c", "id": "{ID}"}}`, 400, ""},
			{"patch", "PATCH", one, "tok-member", `{"credential": {"blob": "c"}}`, 200, `"type": "totp", "blob": "c", `},
			{"patch empty", "PATCH", one, "tok-member", `{"credential": {"blob": ""}}`, 200, `"blob": "", `},
			{"show the change", "GET", one, "tok-member", "", 200, `"blob": "", `},
			{"patch what is not there", "PATCH", all + "/none", "tok-admin", `{"credential": {"blob": "x"}}`, 404, "Could not find credential: none."},
			{"patch what is not there by a member", "PATCH", all + "/none", "tok-member", `{"credential": {"blob": "x"}}`, 403, ""},
			{"get what is not there", "GET", all + "/none", "tok-admin", "", 404, "Could not find credential: none."},
			{"delete", "DELETE", one, "tok-member", "", 204, ""},
			{"delete again", "DELETE", one, "tok-admin", "", 404, "Could not find credential: {ID}."},
		})
	})
}

func TestEC2Credentials(t *testing.T) {
	const all, one = "/v3/credentials", "/v3/credentials/{ID}"
	of := func(kind, blob string) string {
		return fmt.Sprintf(`{"credential": {"blob": %q, "type": %q, "user_id": "u-member", "project_id": "p"}}`, blob, kind)
	}
	change := func(blob string) string { return fmt.Sprintf(`{"credential": {"blob": %q}}`, blob) }
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		script(t, newStand(t, setup{db: d}), []step{
			{"no project", "POST", all, "tok-member", `{"credential": {"blob": "{\"access\": \"a\"}", "type": "ec2", "user_id": "u-member"}}`, 400, "project_id"},
			{"no JSON", "POST", all, "tok-member", of("ec2", "s3cret"), 400, `"message":"Invalid blob in credential"`},
			{"no object", "POST", all, "tok-member", of("ec2", `["s3cret"]`), 400, "Expecting to find blob in credential."},
			{"an empty object", "POST", all, "tok-member", of("ec2", `{}`), 400, "Expecting to find blob in credential."},
			{"no access key", "POST", all, "tok-member", of("EC2", `{"secret": "s"}`), 400, "Expecting to find access in credential."},
			{"a number for one", "POST", all, "tok-member", of("ec2", `{"access": 5}`), 400, "Expecting to find access in credential."},
			{"create", "POST", all, "tok-member", of("ec2", `{"access":"a","secret":"é"}`), 201, `"id": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "user_id": "u-member", "project_id": "p", "type": "ec2", "blob": "{\"access\":\"a\",\"secret\":\"\u00e9\"}"`},
			{"show it as it was sent", "GET", one, "tok-member", "", 200, `"blob": "{\"access\":\"a\",\"secret\":\"\u00e9\"}"`},
			{"again", "POST", all, "tok-admin", of("EC2", `{"access": "a"}`), 409, "Conflict occurred attempting to store credential - Duplicate entry found with ID {ID}."},
			{"add a trust", "PATCH", one, "tok-admin", change(`{"access": "a", "trust_id": "t"}`), 400, "trust_id can not be updated for credential"},
			{"add an application credential", "PATCH", one, "tok-admin", change(`{"access": "a", "app_cred_id": "t"}`), 400, "app_cred_id can not be updated"},
			{"add an access token", "PATCH", one, "tok-admin", change(`{"access": "a", "access_token_id": "t"}`), 400, "access_token_id can not be updated"},
			{"add an access id", "PATCH", one, "tok-admin", change(`{"access": "a", "access_id": "t"}`), 400, "access_id can not be updated"},
			{"change to no JSON", "PATCH", one, "tok-admin", change("s3cret"), 400, `"message":"Invalid blob in credential"`},
			{"change the secret", "PATCH", one, "tok-member", change(`{"secret":"n","access":"a","trust_id":null}`), 200, `"blob": "{\"secret\":\"n\",\"access\":\"a\",\"trust_id\":null}"`},
			{"show the change", "GET", one, "tok-member", "", 200, `"blob": "{\"secret\": \"n\", \"access\": \"a\", \"trust_id\": null}"`},
			{"with marks", "POST", all, "tok-member", of("ec2", `{"access": "b", "trust_id": "t"}`), 201, ""},
			{"take one off", "PATCH", one, "tok-member", change(`{"access": "b"}`), 400, "trust_id can not be updated"},
			{"keep it", "PATCH", one, "tok-member", change(`{"trust_id": "t", "access": "b", "secret": "x"}`), 200, ""},
			{"of another case", "POST", all, "tok-member", of("EC2", `{"access":"c"}`), 201, `"type": "EC2", "blob": "{\"access\":\"c\"}"`},
			{"a mark to that", "PATCH", one, "tok-member", change(`{"access": "c", "trust_id": "t"}`), 400, "trust_id can not be updated"},
			{"show that", "GET", one, "tok-member", "", 200, `"blob": "{\"access\":\"c\"}"`},
		})
	})
}

// Who sees his own alone does not have the others read; who may see more by a
// rule of the operator's does, and sees what that lets him.
func TestCredentialsOfOthersAreNotRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		counted := dbtest.Count(t, d)
		for i := range 20 {
			if _, err := d.Exec(t.Context(), `insert into credential (id, user_id, project_id, type, extra, key_hash, encrypted_blob) values ($1, 'other', $2, 'cert', '{}', 'x', 'unreadable')`, fmt.Sprint("c", i), []string{"p1", "p2"}[i%2]); err != nil {
				t.Fatal(err)
			}
		}
		ofProject, err := policy.New(policy.Config{PolicyFile: policyFile(t, `"identity:get_credential": "project_id:%(target.credential.project_id)s"`)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			token  string
			change func(*v3.Config)
			own    bool
			status int
		}{
			{"tok-member", nil, true, 200},
			{"tok-service", nil, true, 200},
			{"tok-admin", nil, false, 500},
			{"tok-member", func(c *v3.Config) { c.Policy = ofProject }, false, 500},
		} {
			counted.Reset()
			w := newStand(t, setup{db: counted, change: c.change}).do(call{path: "/v3/credentials", token: c.token})
			if w.Code != c.status || counted.Statements != 1 || strings.Contains(counted.Texts[0], "c.user_id = $1") != c.own {
				t.Errorf("%s: %d %s after %q, want those of the user alone: %v", c.token, w.Code, w.Body, counted.Texts, c.own)
			}
		}
	})
}

func policyFile(t *testing.T, text string) string {
	t.Helper()
	file := t.TempDir() + "/policy.yaml"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// as is a token service that knows one caller.
type as struct {
	*tokens
	caller *auth.Identity
}

// Validate gives the caller.
func (a as) Validate(context.Context, auth.Check) (auth.Result, error) {
	return auth.Result{Caller: a.caller}, nil
}

// Whoever acts on another's behalf reaches no credential by any call, whoever
// owns it.
func TestDelegatedReachNoCredentials(t *testing.T) {
	kinds := map[string]token.Token{
		"trust":                  {Methods: []string{"password"}, TrustID: "x"},
		"application credential": {Methods: []string{"application_credential"}, AppCredID: "x"},
		"its id alone":           {Methods: []string{"password"}, AppCredID: "x"},
		"OAuth":                  {Methods: []string{"oauth1"}, AccessTokenID: "x"},
		"OAuth 2":                {Methods: []string{"oauth2_credential"}, Thumbprint: "x"},
		"signature":              {Methods: []string{"ec2credential"}},
		"unknown method":         {Methods: []string{"password", "later"}},
		"no method":              {},
	}
	const secret = `{\"access\": \"a\"}`
	d := dbtest.Open(t, dbtest.Engines()[0])
	made := newStand(t, setup{db: d})
	for _, user := range []string{"u-admin", "u-member"} {
		for _, kind := range []string{"ec2", "cert"} {
			blob := strings.Replace(secret, `a\"`, user+`\"`, 1)
			if w := made.do(call{method: "POST", path: "/v3/credentials", token: "tok-admin", body: `{"credential": {"blob": "` + blob + `", "type": "` + kind + `", "user_id": "` + user + `", "project_id": "p1"}}`}); w.Code != 201 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	ids, err := db.All(t.Context(), d, db.Query[string]{Text: `select id from credential order by id`, Scan: db.ScanText})
	if err != nil || len(ids) != 4 {
		t.Fatalf("%v %v", ids, err)
	}
	for name, k := range kinds {
		for _, role := range []string{"admin", "member"} {
			caller := holder(role)
			k.UserID, k.ProjectID = caller.User.ID, "p1"
			caller.Token = &k
			st := newStand(t, setup{db: d, change: func(c *v3.Config) { c.Auth = as{&tokens{}, caller} }})
			calls := []call{
				{method: "POST", path: "/v3/credentials", body: `{"credential": {"blob": "` + secret + `", "type": "ec2", "user_id": "` + caller.User.ID + `", "project_id": "p1"}}`},
				{method: "POST", path: "/v3/credentials", body: `{"credential": {"blob": "b", "type": "totp", "user_id": "` + caller.User.ID + `"}}`},
			}
			for _, id := range ids {
				calls = append(calls, call{method: "GET", path: "/v3/credentials/" + id}, call{method: "DELETE", path: "/v3/credentials/" + id},
					call{method: "PATCH", path: "/v3/credentials/" + id, body: `{"credential": {"blob": "` + secret + `"}}`})
			}
			for _, c := range calls {
				c.token = "tok-any"
				if w := st.do(c); w.Code != 403 {
					t.Errorf("%s of %s: %s %s: %d %s", name, role, c.method, c.path, w.Code, w.Body)
				}
			}
			if w := st.do(call{path: "/v3/credentials", token: "tok-any"}); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"credentials": [], `) {
				t.Errorf("%s of %s: the list is %d %s", name, role, w.Code, w.Body)
			}
		}
	}
}

// The option of old clouds lets administrators through, to EC2 keys alone, and
// what they make is marked.
func TestCrossProjectCredentials(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		r := resources(t, d)
		r.Credentials.CrossProject = true
		stands := map[string]*stand{}
		for _, role := range []string{"admin", "member"} {
			caller := holder(role)
			caller.Token.TrustID, caller.Token.AppCredID, caller.Token.AccessTokenID = "t1", "a1", "o1"
			stands[role] = newStand(t, setup{db: d, rows: v3.Table(r), change: func(c *v3.Config) { c.Auth = as{&tokens{}, caller} }})
		}
		key := `{"credential": {"blob": "{\"access\": \"a\", \"trust_id\": \"forged\"}", "type": "ec2", "user_id": "u-%s", "project_id": "p1"}}`
		const marked = `{\"access\": \"a\", \"trust_id\": \"t1\", \"app_cred_id\": \"a1\", \"access_token_id\": \"o1\"}`
		for _, c := range []struct {
			role   string
			method string
			path   string
			body   string
			status int
			want   string
		}{
			{"member", "POST", "/v3/credentials", fmt.Sprintf(key, "member"), 403, "Delegated tokens cannot access credentials directly."},
			{"admin", "POST", "/v3/credentials", `{"credential": {"blob": "b", "type": "cert", "user_id": "u-admin"}}`, 403, "Delegated"},
			{"admin", "POST", "/v3/credentials", fmt.Sprintf(key, "member"), 201, marked},
			{"admin", "GET", "/v3/credentials", "", 200, marked},
			{"member", "GET", "/v3/credentials", "", 200, `{"credentials": [], `},
		} {
			if w := stands[c.role].do(call{method: c.method, path: c.path, token: "tok-any", body: c.body}); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %s %s %s: %d %s, want %d %s", c.role, c.method, c.path, c.body, w.Code, w.Body, c.status, c.want)
			}
		}
	})
}

// What no key opens is no reason to show the others nothing, and can go.
func TestUnreadableCredential(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		if _, err := d.Exec(t.Context(), `insert into credential (id, user_id, type, extra, key_hash, encrypted_blob) values ('lost', 'u-admin', 'cert', '{}', 'x', 'gAAAAAlost')`); err != nil {
			t.Fatal(err)
		}
		script(t, newStand(t, setup{db: d}), []step{
			{"of a member", "POST", "/v3/credentials", "tok-member", `{"credential": {"blob": "b", "type": "totp", "user_id": "u-member"}}`, 201, ""},
			{"list to him", "GET", "/v3/credentials", "tok-member", "", 200, `{"credentials": [{"id": "{ID}"`},
			{"list to its owner", "GET", "/v3/credentials", "tok-admin", "", 500, ""},
			{"show", "GET", "/v3/credentials/lost", "tok-admin", "", 500, ""},
			{"give it another", "PATCH", "/v3/credentials/lost", "tok-admin", `{"credential": {"blob": "new"}}`, 200, `"blob": "new"`},
			{"show that", "GET", "/v3/credentials/lost", "tok-admin", "", 200, `"blob": "new"`},
			{"delete", "DELETE", "/v3/credentials/lost", "tok-admin", "", 204, ""},
		})
	})
}
