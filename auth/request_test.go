package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// parser is a service that parses logins; what it would run them on is missing.
func parser(cfg auth.Config) *auth.Service {
	if cfg.Methods == nil {
		cfg.Methods = []string{"external", "password", "token", "totp"}
	}
	return auth.New(cfg, nil, nil, method.Password{}, cascade.Revoker{}, nil)
}

func parse(s *auth.Service, text string) (auth.Request, error) {
	body, err := pyjson.DecodeObject([]byte(text))
	if err != nil {
		return auth.Request{}, fmt.Errorf("the test's own JSON: %w", err)
	}
	return s.ParseRequest(body)
}

const (
	unsupported = "401 Attempted to authenticate with an unsupported method."
	malformed   = " The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error."
	noScope     = "400 Expecting to find system, project, domain, OS-TRUST:trust or unscoped in scope." + malformed
	pwUser      = `{"auth": {"identity": {"methods": ["password"], "password": {"user": %s}}}}`
	pwScope     = `{"auth": {"identity": {"methods": ["password"], "password": {"user": {"id": "u", "password": "p"}}}, "scope": %s}}`
)

// TestParseFaults: what a login body must not be. Where Python's text is fixed
// it is given whole, where it is jsonschema's the field alone.
func TestParseFaults(t *testing.T) {
	s := parser(auth.Config{})
	user := func(text string) string { return fmt.Sprintf(pwUser, text) }
	scope := func(text string) string { return fmt.Sprintf(pwScope, text) }
	for _, tt := range []struct{ body, want string }{
		{`{}`, "400 Expecting to find auth in request body." + malformed},
		{`{"auth": null}`, "400 Expecting to find auth in request body." + malformed},
		{`{"auth": {}}`, "400 Expecting to find auth in request body." + malformed},
		{`{"auth": []}`, "400 "},
		{`{"auth": ""}`, "400 "},
		{`{"auth": "x"}`, "400 "},
		{`{"auth": [1]}`, "400 "},
		{`{"auth": 5}`, "400 "},
		{`{"auth": true}`, "400 "},
		{`{"auth": {"scope": "unscoped"}}`, "400 'identity' is a required property"},
		{`{"auth": {"identity": null}}`, "400 Invalid input for field 'identity': "},
		{`{"auth": {"identity": []}}`, "400 Invalid input for field 'identity': "},
		{`{"auth": {"identity": {}}}`, "400 Invalid input for field 'identity': 'methods' is a required property"},
		{`{"auth": {"identity": {"methods": "password"}}}`, "400 Invalid input for field 'identity/methods': "},
		{`{"auth": {"identity": {"methods": null}}}`, "400 Invalid input for field 'identity/methods': "},
		{`{"auth": {"identity": {"methods": [1]}}}`, "400 Invalid input for field 'identity/methods': "},
		{`{"auth": {"identity": {"methods": [null]}}}`, "400 Invalid input for field 'identity/methods': "},
		{`{"auth": {"identity": {"methods": ["password"]}}}`, "400 Expecting to find password in identity." + malformed},
		{`{"auth": {"identity": {"methods": ["password", "token"], "password": {"user": {"id": "u"}}}}}`, "400 Expecting to find token in identity." + malformed},
		{`{"auth": {"identity": {"methods": ["kerberos"]}}}`, "400 Expecting to find kerberos in identity." + malformed},
		{`{"auth": {"identity": {"methods": ["kerberos", "password"], "kerberos": {}}}}`, "400 Expecting to find password in identity." + malformed},
		{`{"auth": {"identity": {"methods": ["password"], "password": []}}}`, "400 Invalid input for field 'identity/password': "},
		{`{"auth": {"identity": {"methods": ["token"], "token": {}}}}`, "400 Invalid input for field 'identity/token': 'id' is a required property"},
		{`{"auth": {"identity": {"methods": ["token"], "token": {"id": 1}}}}`, "400 Invalid input for field 'identity/token/id': "},
		{`{"auth": {"identity": {"methods": ["token"], "token": {"id": null}}}}`, "400 Invalid input for field 'identity/token/id': "},
		{user(`null`), "400 Invalid input for field 'identity/password/user': "},
		{user(`"ana"`), "400 Invalid input for field 'identity/password/user': "},
		{user(`{}`), "400 Invalid input for field identity/password/user: id or name must be present."},
		{user(`{"password": "p"}`), "400 Invalid input for field identity/password/user: id or name must be present."},
		{user(`{"id": 5}`), "400 Invalid input for field 'identity/password/user/id': "},
		{user(`{"id": ["a"]}`), "400 Invalid input for field 'identity/password/user/id': "},
		{user(`{"name": null}`), "400 Invalid input for field 'identity/password/user/name': "},
		{user(`{"id": "u", "password": 123}`), "400 Invalid input for field 'identity/password/user/password': "},
		{user(`{"id": "u", "password": null}`), "400 Invalid input for field 'identity/password/user/password': "},
		{user(`{"id": "u", "password": true}`), "400 Invalid input for field 'identity/password/user/password': "},
		{user(`{"name": "u", "domain": null}`), "400 Invalid input for field 'identity/password/user/domain': "},
		{user(`{"name": "u", "domain": "d"}`), "400 Invalid input for field 'identity/password/user/domain': "},
		{user(`{"name": "u", "domain": {}}`), "400 Invalid input for field identity/password/user/domain: id or name must be present."},
		{user(`{"name": "u", "domain": {"id": 1}}`), "400 Invalid input for field 'identity/password/user/domain/id': "},
		{scope(`null`), "400 Invalid input for field 'scope': "},
		{scope(`[]`), "400 Invalid input for field 'scope': "},
		{scope(`5`), "400 Invalid input for field 'scope': "},
		{scope(`{}`), noScope},
		{scope(`{"zzz": {}}`), noScope},
		{scope(`"zzz"`), noScope},
		{scope(`""`), noScope},
		{scope(`{"project": {"id": "p"}, "domain": {"id": "d"}}`), noScope},
		{scope(`{"project": {"id": "p"}, "unscoped": {}}`), noScope},
		{scope(`{"system": {"all": true}, "unscoped": {}}`), noScope},
		{scope(`"project domain"`), noScope},
		{scope(`"project"`), "400 "},
		{scope(`"my domain"`), "400 "},
		{scope(`"OS-TRUST:trust"`), "400 "},
		{scope(`{"project": null}`), "400 Invalid input for field 'scope/project': "},
		{scope(`{"project": "p"}`), "400 Invalid input for field 'scope/project': "},
		{scope(`{"project": {}}`), "400 Invalid input for field scope/project: id or name must be present."},
		{scope(`{"project": {"id": 1}}`), "400 Invalid input for field 'scope/project/id': "},
		{scope(`{"project": {"name": "p"}}`), "400 Expecting to find domain in project." + malformed},
		{scope(`{"project": {"name": "p", "domain": {}}}`), "400 Invalid input for field scope/project/domain: id or name must be present."},
		{scope(`{"project": {"name": "p", "domain": {"name": 1}}}`), "400 Invalid input for field 'scope/project/domain/name': "},
		{scope(`{"domain": {}}`), "400 Invalid input for field scope/domain: id or name must be present."},
		{scope(`{"domain": {"id": null}}`), "400 Invalid input for field 'scope/domain/id': "},
		{scope(`{"OS-TRUST:trust": "x"}`), "400 Invalid input for field 'scope/OS-TRUST:trust': "},
		{scope(`{"OS-TRUST:trust": {}}`), "400 Expecting to find trust_id in trust." + malformed},
		{scope(`{"OS-TRUST:trust": {"id": ""}}`), "400 Expecting to find trust_id in trust." + malformed},
		{scope(`{"system": true}`), "400 Invalid input for field 'scope/system': "},
		{scope(`{"system": {"all": "true"}}`), "400 Invalid input for field 'scope/system/all': "},
		{scope(`{"system": {"all": 1}}`), "400 Invalid input for field 'scope/system/all': "},
		{scope(`{"system": {"all": null}}`), "400 Invalid input for field 'scope/system/all': "},
		{scope(`{"unscoped": 5}`), ""},
		// a bad scope is told though the method is not known
		{`{"auth": {"identity": {"methods": ["kerberos"], "kerberos": {}}, "scope": []}}`, "400 Invalid input for field 'scope': "},
		{`{"auth": {"identity": {"methods": ["kerberos"], "kerberos": {}}, "scope": {}}}`, unsupported},
	} {
		_, err := parse(s, tt.body)
		got := message(err)
		whole := !strings.HasSuffix(tt.want, ": ") && tt.want != "400 "
		if whole && got != tt.want || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\n got %q\nwant %q", tt.body, got, tt.want)
		}
	}
}

// TestParseKeepsSecrets: no fault repeats a value of the body.
func TestParseKeepsSecrets(t *testing.T) {
	s := parser(auth.Config{})
	for _, body := range []string{
		fmt.Sprintf(pwUser, `{"id": "u", "password": ["sesame"]}`),
		fmt.Sprintf(pwUser, `{"id": ["sesame"], "password": "sesame"}`),
		fmt.Sprintf(pwUser, `"sesame"`),
		fmt.Sprintf(pwScope, `{"project": "sesame"}`),
		`{"auth": {"identity": {"methods": ["token"], "token": {"id": {"sesame": "sesame"}}}}}`,
		`{"auth": "sesame"}`,
	} {
		if _, err := parse(s, body); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestParseMethods: each once, in the order given; one that is not configured,
// or not built, is a 401 that names those that are configured.
func TestParseMethods(t *testing.T) {
	for _, tt := range []struct {
		configured []string
		methods    string
		want       []string // nil: refused
	}{
		{[]string{"password", "token"}, `["token", "password", "token"]`, []string{"token", "password"}},
		{[]string{"password"}, `["password"]`, []string{"password"}},
		{[]string{"password"}, `["password", "token"]`, nil},
		{[]string{"password", "totp"}, `["totp"]`, nil}, // not built
		{[]string{"token"}, `["password"]`, nil},
		{[]string{"password"}, `["PASSWORD"]`, nil},
		{[]string{"password"}, `["kerberos"]`, nil},
	} {
		s := parser(auth.Config{Methods: tt.configured})
		r, err := parse(s, `{"auth": {"identity": {"methods": `+tt.methods+`, "password": {"user": {"id": "u"}}, "token": {"id": "t"}, "totp": {}, "kerberos": {}, "PASSWORD": {}}}}`)
		if tt.want != nil {
			if diff := cmp.Diff(tt.want, r.Methods); diff != "" || err != nil {
				t.Errorf("methods %s of %v: %v, want -, got +\n%s", tt.methods, tt.configured, err, diff)
			}
			continue
		}
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || message(err) != unsupported || !cmp.Equal(f.Identity, map[string]any{"methods": tt.configured}) {
			t.Errorf("methods %s of %v: got %v, %+v", tt.methods, tt.configured, err, f)
		}
	}
	r, err := parse(parser(auth.Config{}), `{"auth": {"identity": {"methods": []}}}`)
	if err != nil || len(r.Methods) != 0 {
		t.Errorf("no methods: %v, %v: the login itself refuses that", r, err)
	}
}

// TestParseLengths: names have 255 characters at most, of whatever letters;
// passwords and tokens have no bound but the body's.
func TestParseLengths(t *testing.T) {
	s := parser(auth.Config{})
	for _, letter := range []string{"a", "日", "😀"} {
		for n, want := range map[int]string{255: "", 256: "the value is longer than 255 characters"} {
			name := strings.Repeat(letter, n)
			for field, body := range map[string]string{
				"identity/password/user/name":        fmt.Sprintf(pwUser, `{"name": "`+name+`", "domain": {"id": "d"}}`),
				"identity/password/user/domain/name": fmt.Sprintf(pwUser, `{"name": "u", "domain": {"name": "`+name+`"}}`),
				"scope/project/name":                 fmt.Sprintf(pwScope, `{"project": {"name": "`+name+`", "domain": {"id": "d"}}}`),
				"scope/project/domain/name":          fmt.Sprintf(pwScope, `{"project": {"name": "p", "domain": {"name": "`+name+`"}}}`),
				"scope/domain/name":                  fmt.Sprintf(pwScope, `{"domain": {"name": "`+name+`"}}`),
			} {
				expect := ""
				if want != "" {
					expect = "400 Invalid input for field '" + field + "': " + want
				}
				if _, err := parse(s, body); message(err) != expect {
					t.Errorf("%s of %d %q: got %q, want %q", field, n, letter, message(err), expect)
				}
			}
		}
	}
	long := strings.Repeat("x", 100000)
	for _, body := range []string{
		fmt.Sprintf(pwUser, `{"id": "u", "password": "`+long+`"}`),
		`{"auth": {"identity": {"methods": ["token"], "token": {"id": "` + long + `"}}}}`,
	} {
		if _, err := parse(s, body); err != nil {
			t.Errorf("a long password or token: %v", err)
		}
	}
}
