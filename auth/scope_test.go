package auth_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth"
)

// TestParseScope reads each kind of scope, as an object or as the word for it.
func TestParseScope(t *testing.T) {
	s := parser(auth.Config{})
	for text, want := range map[string]auth.Scope{
		`"unscoped"`:                                          {Kind: auth.ScopeUnscoped},
		`"an unscoped token please"`:                          {Kind: auth.ScopeUnscoped}, // Python looks for the word in the text
		`{"unscoped": {}}`:                                    {Kind: auth.ScopeUnscoped},
		`{"unscoped": null}`:                                  {Kind: auth.ScopeUnscoped},
		`{"unscoped": {}, "zzz": {}}`:                         {Kind: auth.ScopeUnscoped},
		`{"system": {"all": true}}`:                           {Kind: auth.ScopeSystem},
		`{"system": {"all": false}}`:                          {Kind: auth.ScopeSystem}, // the value says nothing
		`{"system": {}}`:                                      {Kind: auth.ScopeSystem},
		`"system"`:                                            {Kind: auth.ScopeSystem},
		`{"project": {"id": "p"}}`:                            {Kind: auth.ScopeProject, ID: "p"},
		`{"domain": {"id": "d"}}`:                             {Kind: auth.ScopeDomain, ID: "d"},
		`{"domain": {"name": "D"}}`:                           {Kind: auth.ScopeDomain, Name: "D"},
		`{"OS-TRUST:trust": {"id": "t"}}`:                     {Kind: auth.ScopeTrust, ID: "t"},
		`{"project": {"id": "p", "x": 1}}`:                    {Kind: auth.ScopeProject, ID: "p"},
		`{"project": {"name": "P", "domain": {"id": "d"}}}`:   {Kind: auth.ScopeProject, Name: "P", DomainID: "d"},
		`{"project": {"name": "P", "domain": {"name": "D"}}}`: {Kind: auth.ScopeProject, Name: "P", DomainName: "D"},
		`{"project": {"name": "P", "id": "p", "domain": {"name": "D"}}}`: {Kind: auth.ScopeProject, Name: "P", ID: "p", DomainName: "D"},
		`{"project": {"id": "p", "domain": {"name": "D"}}}`:              {Kind: auth.ScopeProject, ID: "p"},
		`{"project": {"name": "a/b:c", "domain": {"name": "d/e"}}}`:      {Kind: auth.ScopeProject, Name: "a/b:c", DomainName: "d/e"},
		`{"project": {"name": "日本", "domain": {"name": "\u0000"}}}`:      {Kind: auth.ScopeProject, Name: "日本", DomainName: "\x00"},
	} {
		r, err := parse(s, fmt.Sprintf(pwScope, text))
		if diff := cmp.Diff(want, r.Scope); err != nil || diff != "" {
			t.Errorf("scope %s: %v, want -, got +\n%s", text, err, diff)
		}
	}
	r, err := parse(s, fmt.Sprintf(pwUser, `{"id": "u"}`))
	if err != nil || r.Scope != (auth.Scope{}) || r.Scope.Kind != auth.ScopeDefault {
		t.Errorf("no scope: %+v, %v", r.Scope, err)
	}
}

// TestParseScopeStrict is [resource] project_name_url_safe and
// domain_name_url_safe = strict: names with reserved characters are refused,
// when the scope is looked at, and ids are not.
func TestParseScopeStrict(t *testing.T) {
	for _, tt := range []struct {
		project, domain bool
		scope           string
		unsafe          bool
	}{
		{true, false, `{"project": {"name": "a/b", "domain": {"id": "d"}}}`, true},
		{true, false, `{"project": {"name": "a b", "domain": {"id": "d"}}}`, false},
		{true, false, `{"project": {"name": "ab", "domain": {"name": "d/e"}}}`, false},
		{true, false, `{"project": {"id": "a/b"}}`, false},
		{false, true, `{"project": {"name": "a/b", "domain": {"name": "d"}}}`, false},
		{false, true, `{"project": {"name": "ab", "domain": {"name": "d/e"}}}`, true},
		{false, true, `{"project": {"name": "ab", "domain": {"id": "d/e"}}}`, false},
		{false, true, `{"domain": {"name": "d?e"}}`, true},
		{false, true, `{"domain": {"id": "d?e"}}`, false},
		{true, false, `{"domain": {"name": "d?e"}}`, false},
		{true, true, `{"domain": {"name": "dé"}}`, false},
	} {
		s := parser(auth.Config{StrictProjectNames: tt.project, StrictDomainNames: tt.domain})
		r, err := parse(s, fmt.Sprintf(pwScope, tt.scope))
		if err != nil || r.Scope.Unsafe != tt.unsafe {
			t.Errorf("project strict %v, domain strict %v, scope %s: unsafe is %v, %v, want %v", tt.project, tt.domain, tt.scope, r.Scope.Unsafe, err, tt.unsafe)
		}
	}
	s := parser(auth.Config{StrictProjectNames: true, StrictDomainNames: true})
	for _, c := range `:/?#[]@!$&'()*+,;=` {
		r, err := parse(s, fmt.Sprintf(pwScope, fmt.Sprintf(`{"domain": {"name": "a%cb"}}`, c)))
		if err != nil || !r.Scope.Unsafe {
			t.Errorf("%q is reserved: %+v, %v", c, r.Scope, err)
		}
	}
}

// TestStrictScope is the bare 401 of such a name, though it is there.
func TestStrictScope(t *testing.T) {
	each(t, world{Config: auth.Config{StrictProjectNames: true}}, func(s *stand) {
		scope := `{"project": {"name": "a/b", "domain": {"id": "default"}}}`
		s.exec(`update project set name = 'a/b' where id = 'p1'`)
		if _, err := s.try(byPassword(s.ids["ana"], "ana", scope)); message(err) != bare {
			s.Errorf("got %q", message(err))
		}
		if n := s.hash.dummies.Load(); n != 1 {
			s.Errorf("%d dummy hashes, want 1", n)
		}
		if id := s.token("ana", onP1); id.Project.Name != "a/b" {
			s.Errorf("by id: %+v", id.Project)
		}
	})
}
