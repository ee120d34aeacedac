package auth_test

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// FuzzParseRequest feeds bytes as a login body: nothing panics, what is refused
// is a 400 or a 401, and what is taken has what the login goes on with.
func FuzzParseRequest(f *testing.F) {
	plain := parser(auth.Config{})
	strict := parser(auth.Config{StrictProjectNames: true, StrictDomainNames: true, Methods: []string{"password"}})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pyjson.Decode(data)
		if err != nil {
			return
		}
		body, _ := v.(pyjson.Object)
		for _, s := range []*auth.Service{plain, strict} {
			r, err := s.ParseRequest(body)
			if err != nil {
				refusal(t, err)
				continue
			}
			for i, name := range r.Methods {
				if _, there := r.Payload[name]; !there || slices.Contains(r.Methods[:i], name) || !slices.Contains(s.Methods, name) {
					t.Errorf("methods %q with payloads %v", r.Methods, r.Payload)
				}
			}
			sane(t, r.Scope)
		}
	})
}

func refusal(t *testing.T, err error) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.BadRequest && f.Kind != fault.Unauthorized || f.Message == "" || !utf8.ValidString(f.Message) {
		t.Errorf("refused with %#v", err)
	}
}

func sane(t *testing.T, s auth.Scope) {
	t.Helper()
	for _, name := range []string{s.Name, s.DomainName} {
		if utf8.RuneCountInString(name) > 255 {
			t.Errorf("a name of %d characters was taken", utf8.RuneCountInString(name))
		}
	}
	kinds := []auth.ScopeKind{auth.ScopeDefault, auth.ScopeUnscoped, auth.ScopeSystem, auth.ScopeProject, auth.ScopeDomain, auth.ScopeTrust}
	if !slices.Contains(kinds, s.Kind) || s.Kind == auth.ScopeTrust && s.ID == "" {
		t.Errorf("scope %+v was taken", s)
	}
}
