package method_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

var end = time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC)

// verify runs the method on a source token; wrong is what its rows say.
func verify(m method.Token, t *token.Token, wrong error, w method.Wanted) (method.Proof, error) {
	m.Load = func(*db.Batch, string) func() (method.Held, error) {
		return func() (method.Held, error) {
			return method.Held{Token: t, Account: identity.Account{ID: "u"}, Options: identity.Options{"1000": "true"}}, wrong
		}
	}
	a := m.Parse(pyjson.Object{{Key: "id", Value: "text"}}, w)
	var b db.Batch
	a.Queue(&b)
	return a.Verify(context.Background())
}

func kind(err error) fault.Kind {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Kind
	}
	return 0
}

// TestTokenProof carries over the user, the end of life, the methods, each
// once, and the first audit id of the chain.
func TestTokenProof(t *testing.T) {
	for _, tt := range []struct {
		name    string
		methods []string
		audits  []string
		want    []string
		chain   string
	}{
		{"first of its chain", []string{"password"}, []string{"own"}, []string{"token", "password"}, "own"},
		{"from another", []string{"token", "password"}, []string{"own", "first"}, []string{"token", "password"}, "first"},
		{"several methods", []string{"totp", "password"}, []string{"own"}, []string{"token", "totp", "password"}, "own"},
		{"without audit ids", []string{"password"}, nil, []string{"token", "password"}, ""},
	} {
		p, err := verify(method.Token{Rescope: true}, &token.Token{Methods: tt.methods, AuditIDs: tt.audits, ExpiresAt: end}, nil, method.Wanted{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, p.Methods); diff != "" {
			t.Errorf("%s: methods: want -, got +\n%s", tt.name, diff)
		}
		if p.Account.ID != "u" || !p.Options.On("1000") || !p.Source.ExpiresAt.Equal(end) || p.Source.AuditID != tt.chain {
			t.Errorf("%s: proof %+v, source %+v", tt.name, p, p.Source)
		}
	}
}

// TestTokenDelegated: a token makes another only when every method of it
// proves who one is; one that names none counts as delegated, and what an
// operator lists counts as proof, save the marker of a signature.
func TestTokenDelegated(t *testing.T) {
	with := func(methods ...string) *token.Token { return &token.Token{Methods: methods} }
	for _, tt := range []struct {
		name    string
		primary []string
		source  *token.Token
		want    fault.Kind // 0: allowed
	}{
		{"password", nil, with("password"), 0},
		{"all that prove", nil, with("external", "kerberos", "mapped", "openid", "password", "saml2", "token", "totp", "x509"), 0},
		{"none", nil, with(), fault.Forbidden},
		{"signature", nil, with("ec2credential"), fault.Forbidden},
		{"signature beside a password", nil, with("password", "ec2credential"), fault.Forbidden},
		{"certificate's method", nil, with("oauth2_credential"), fault.Forbidden},
		{"application credential's method", nil, with("application_credential"), fault.Forbidden},
		{"OAuth's method", nil, with("oauth1"), fault.Forbidden},
		{"a later one", nil, with("passkey"), fault.Forbidden},
		{"a later one, listed", []string{"passkey"}, with("passkey", "token"), 0},
		{"signature, listed", []string{"ec2credential"}, with("ec2credential"), fault.Forbidden},
		{"trust", nil, &token.Token{Methods: []string{"password"}, TrustID: "t"}, fault.Forbidden},
		{"OAuth", nil, &token.Token{Methods: []string{"password"}, AccessTokenID: "a"}, fault.Forbidden},
		{"application credential", nil, &token.Token{Methods: []string{"password"}, AppCredID: "a"}, fault.Forbidden},
		{"certificate", nil, &token.Token{Methods: []string{"password"}, Thumbprint: "x"}, fault.Forbidden},
	} {
		for _, wrong := range []error{nil, fault.New(fault.NotFound, "stale")} {
			want := tt.want
			if want == 0 && wrong != nil {
				want = fault.NotFound
			}
			_, err := verify(method.Token{Rescope: true, Primary: tt.primary}, tt.source, wrong, method.Wanted{})
			if got := kind(err); got != want || want == 0 && err != nil {
				t.Errorf("%s (rows say %v): got %v, want %d", tt.name, wrong, err, want)
			}
		}
	}
}

// TestTokenScope: what a scoped token may be exchanged for.
func TestTokenScope(t *testing.T) {
	none := method.Wanted{}
	project, domain := method.Wanted{Project: true}, method.Wanted{Domain: true}
	for _, tt := range []struct {
		name    string
		source  token.Token
		wanted  method.Wanted
		rescope bool
		allowed bool
	}{
		{"unscoped", token.Token{}, project, false, true},
		{"project", token.Token{ProjectID: "p"}, project, true, true},
		{"project, off", token.Token{ProjectID: "p"}, none, false, false},
		{"domain, off", token.Token{DomainID: "d"}, none, false, false},
		{"system, off", token.Token{System: "all"}, none, false, false},
		{"system to project", token.Token{System: "all"}, project, true, false},
		{"system to domain", token.Token{System: "all"}, domain, true, false},
		{"system to no scope", token.Token{System: "all"}, none, true, true},
	} {
		tt.source.Methods = []string{"password"}
		_, err := verify(method.Token{Rescope: tt.rescope}, &tt.source, nil, tt.wanted)
		if allowed := err == nil; allowed != tt.allowed || !allowed && kind(err) != fault.Forbidden {
			t.Errorf("%s: got %v, allowed should be %v", tt.name, err, tt.allowed)
		}
	}
}

// TestTokenWithoutID is a fault of the body, kept until the scope was judged.
func TestTokenWithoutID(t *testing.T) {
	m := method.Token{Load: func(*db.Batch, string) func() (method.Held, error) {
		t.Error("a token that is not there was loaded")
		return nil
	}}
	for _, payload := range []pyjson.Object{nil, {}, {{Key: "id", Value: 5}}} {
		a := m.Parse(payload, method.Wanted{})
		a.Queue(&db.Batch{})
		if err := a.Waste(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := a.Verify(t.Context()); kind(err) != fault.BadRequest {
			t.Errorf("payload %v: got %v, want a 400", payload, err)
		}
	}
}
