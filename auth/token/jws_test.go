package token_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/jws"
)

// jwsData holds keys and tokens that Python Keystone made (make.py beside
// them).
const jwsData = "../../test/testdata/jws/"

func jwsKeys(t testing.TB, alg jws.Algorithm) *jws.Keys {
	t.Helper()
	keys, err := jws.Open(jws.Config{
		PrivateDir: jwsData + string(alg) + "/private", PublicDir: jwsData + string(alg) + "/public",
		Sign: alg, Accept: []jws.Algorithm{alg}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func provider(t testing.TB, alg jws.Algorithm) *token.JWS {
	return token.NewJWS(jwsKeys(t, alg), func() time.Time { return issued.Add(123456 * time.Microsecond) })
}

// recorded is a token of Python's and the arguments that it was made from.
type recorded struct {
	Name string `json:"name"`
	Args struct {
		UserID        string              `json:"user_id"`
		ExpiresAt     time.Time           `json:"expires_at"`
		AuditIDs      []string            `json:"audit_ids"`
		Methods       []string            `json:"methods"`
		System        string              `json:"system"`
		DomainID      string              `json:"domain_id"`
		ProjectID     string              `json:"project_id"`
		TrustID       string              `json:"trust_id"`
		Groups        []map[string]string `json:"federated_group_ids"`
		IDPID         string              `json:"identity_provider_id"`
		ProtocolID    string              `json:"protocol_id"`
		AccessTokenID string              `json:"access_token_id"`
		AppCredID     string              `json:"app_cred_id"`
		Thumbprint    string              `json:"thumbprint"`
	} `json:"args"`
	IssuedAt time.Time `json:"issued_at"`
	Token    string    `json:"token"`
}

func (r recorded) token() token.Token {
	a := r.Args
	t := token.Token{
		UserID: a.UserID, Methods: a.Methods, AuditIDs: a.AuditIDs, System: a.System, DomainID: a.DomainID,
		ProjectID: a.ProjectID, TrustID: a.TrustID, IDPID: a.IDPID, ProtocolID: a.ProtocolID,
		AccessTokenID: a.AccessTokenID, AppCredID: a.AppCredID, Thumbprint: a.Thumbprint,
		ExpiresAt: a.ExpiresAt, IssuedAt: r.IssuedAt,
	}
	if a.Groups != nil {
		t.Federated, t.GroupIDs = true, []string{}
		for _, g := range a.Groups {
			t.GroupIDs = append(t.GroupIDs, g["id"])
		}
	}
	return t
}

func recordedTokens(t testing.TB) map[jws.Algorithm][]recorded {
	t.Helper()
	text, err := os.ReadFile(jwsData + "tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[jws.Algorithm][]recorded{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(jws.Algorithms) || len(all[jws.ES256]) < 14 {
		t.Fatalf("%d algorithms, %d tokens", len(all), len(all[jws.ES256]))
	}
	return all
}

// Python's tokens read as what they were made from.
func TestJWSReadsPython(t *testing.T) {
	for alg, rows := range recordedTokens(t) {
		p := provider(t, alg)
		for _, r := range rows {
			got, err := p.Decode(r.Token)
			if err != nil {
				t.Errorf("%s %s: %v", alg, r.Name, err)
				continue
			}
			if diff := cmp.Diff(r.token(), *got); diff != "" {
				t.Errorf("%s %s: (-want +got)\n%s", alg, r.Name, diff)
			}
		}
	}
}

// What is issued here has, byte for byte, the header and the claims that
// Python signed for the same arguments. Ed25519 signs without chance, so that
// there the whole token is equal; the others verify under the same key.
func TestJWSWritesPython(t *testing.T) {
	for alg, rows := range recordedTokens(t) {
		p := provider(t, alg)
		for _, r := range rows {
			in := r.token()
			want := in
			in.IssuedAt, in.Version, in.ExpiresAt = time.Time{}, -1, in.ExpiresAt.Add(999*time.Millisecond)
			text, err := p.Issue(&in)
			if err != nil {
				t.Errorf("%s %s: %v", alg, r.Name, err)
				continue
			}
			if diff := cmp.Diff(want, in); diff != "" {
				t.Errorf("%s %s: Issue left (-want +got)\n%s", alg, r.Name, diff)
			}
			end := strings.LastIndexByte(r.Token, '.')
			if alg == jws.EdDSA {
				end = len(r.Token)
			}
			if len(text) < end || text[:end] != r.Token[:end] {
				t.Errorf("%s %s: got %s, want %s", alg, r.Name, text, r.Token)
			}
			if back, err := p.Decode(text); err != nil || !cmp.Equal(want, *back) {
				t.Errorf("%s %s: read back %+v, %v", alg, r.Name, back, err)
			}
		}
	}
}

// sealed signs claims, however wrong they are.
func sealed(t *testing.T, claims string) string {
	t.Helper()
	text, err := jwsKeys(t, jws.ES256).Sign([]byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const goodClaims = `{"sub":"u","iat":1796000000,"exp":1796083200,"openstack_methods":["password"],"openstack_audit_ids":["a"]}`

func TestJWSTolerates(t *testing.T) {
	base := token.Token{UserID: "u", Methods: pw, AuditIDs: []string{"a"}, IssuedAt: issued, ExpiresAt: expires}
	with := func(edit func(*token.Token)) token.Token {
		c := base
		edit(&c)
		return c
	}
	for name, c := range map[string]struct {
		old, new string
		want     token.Token
	}{
		"a fraction":          {"1796000000", "1796000000.75", base},
		"an exponent":         {"1796083200", "1.7960832e9", base},
		"None for a scope":    {`{"sub"`, `{"openstack_project_id":null,"sub"`, base},
		"an empty scope":      {`{"sub"`, `{"openstack_project_id":"","sub"`, base},
		"what is not known":   {`{"sub"`, `{"jti":"x","openstack_new":[1],"sub"`, base},
		"None for groups":     {`{"sub"`, `{"openstack_group_ids":null,"sub"`, base},
		"no method":           {`["password"]`, `[]`, with(func(t *token.Token) { t.Methods = []string{} })},
		"a clock ahead":       {"1796000000", "1796000059", with(func(t *token.Token) { t.IssuedAt = issued.Add(59 * time.Second) })},
		"expired long ago":    {"1796083200", "0", with(func(t *token.Token) { t.ExpiresAt = time.Unix(0, 0).UTC() })},
		"valid since a while": {`{"sub"`, `{"nbf":1796000000,"sub"`, base},
	} {
		got, err := provider(t, jws.ES256).Decode(sealed(t, strings.Replace(goodClaims, c.old, c.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestJWSRefuses(t *testing.T) {
	for name, r := range map[string][2]string{
		"no user":               {`"sub":"u",`, ``},
		"an empty user":         {`"u"`, `""`},
		"a user of None":        {`"u"`, `null`},
		"a user that is number": {`"u"`, `7`},
		"a user with NUL":       {`"u"`, `"u\u0000"`},
		"half a character":      {`"u"`, `"\ud800"`},
		"no iat":                {`"iat":1796000000,`, ``},
		"an iat of text":        {`1796000000`, `"1796000000"`},
		"an iat to come":        {`1796000000`, `1796000062`},
		"no exp":                {`"exp":1796083200,`, ``},
		"an exp of None":        {`1796083200`, `null`},
		"an exp below 0":        {`1796083200`, `-1`},
		"an exp of year 10000":  {`1796083200`, `253402300800`},
		"an endless exp":        {`1796083200`, `1e999`},
		"no methods":            {`"openstack_methods":["password"],`, ``},
		"methods of text":       {`["password"]`, `"password"`},
		"methods of numbers":    {`["password"]`, `[1]`},
		"no audit ids":          {`,"openstack_audit_ids":["a"]`, ``},
		"an empty list":         {`["a"]`, `[]`},
		"three audit ids":       {`["a"]`, `["a","b","c"]`},
		"an empty audit id":     {`["a"]`, `[""]`},
		"a scope of a number":   {`{"sub"`, `{"openstack_project_id":1,"sub"`},
		"groups of text":        {`{"sub"`, `{"openstack_group_ids":["g"],"sub"`},
		"groups without ids":    {`{"sub"`, `{"openstack_group_ids":[{}],"sub"`},
		"not valid yet":         {`{"sub"`, `{"nbf":1796000062,"sub"`},
		"for somebody else":     {`{"sub"`, `{"aud":"x","sub"`},
		"a list":                {goodClaims, `[]`},
		"no JSON":               {goodClaims, `{"sub":`},
		"nothing":               {goodClaims, ``},
	} {
		text := sealed(t, strings.Replace(goodClaims, r[0], r[1], 1))
		got, err := provider(t, jws.ES256).Decode(text)
		if got != nil {
			t.Errorf("%s: got %+v", name, got)
		}
		refusedJWS(t, name, err, text)
	}
	if _, err := provider(t, jws.ES256).Decode(sealed(t, goodClaims)); err != nil {
		t.Errorf("the claims that all others are made from: %v", err)
	}
}

// refusedJWS checks Keystone's words for the client, and that the error, which
// is logged, does not show the token.
func refusedJWS(t *testing.T, name string, err error, text string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !errors.Is(err, token.ErrNotFound) || f.Kind != fault.NotFound || f.Message != "Could not find token: "+text+"." {
		t.Errorf("%s: got %v", name, err)
		return
	}
	if strings.Contains(err.Error(), text) {
		t.Errorf("%s: the error shows the token: %v", name, err)
	}
}

func TestJWSRefusesStrangers(t *testing.T) {
	rows := recordedTokens(t)
	p := provider(t, jws.ES256)
	good := rows[jws.ES256][0].Token
	parts := strings.Split(good, ".")
	header := func(h string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(h)) + "." + parts[1] + "." + parts[2]
	}
	for name, text := range map[string]string{
		"a Fernet token":        "gAAAAABrDMkAAAECAwQFBgcICQoLDA0OD5datpzvcvP44lXFE_E-EWBOeX5Xx-DB6hhXPyfLBk-vOmeubYtEcOcxUwLeXdirNtduUedVirtoW78c9ExcK6G72OxHYTPqfgTLYwNVzfr7WzIXDFxje0YFRvoxyolMbw",
		"another algorithm":     rows[jws.EdDSA][0].Token,
		"another payload":       parts[0] + "." + strings.Split(rows[jws.ES256][1].Token, ".")[1] + "." + parts[2],
		"another's signature":   parts[0] + "." + parts[1] + "." + strings.Split(rows[jws.ES256][1].Token, ".")[2],
		"no signature":          parts[0] + "." + parts[1] + ".",
		"a signature too short": good[:len(good)-4],
		"a signature too long":  good + "AAAA",
		"padding":               good + "==",
		"four parts":            good + "." + parts[2],
		"two parts":             parts[0] + "." + parts[1],
		"one part":              parts[0],
		"alg none":              header(`{"alg":"none","typ":"JWT"}`),
		"alg HS256":             header(`{"alg":"HS256","typ":"JWT"}`),
		"no alg":                header(`{"typ":"JWT"}`),
		"a header of text":      header(`"ES256"`),
		"a line end":            good + "\n",
	} {
		_, err := p.Decode(text)
		refusedJWS(t, name, err, text)
	}
	_, err := p.Decode("")
	refused(t, "nothing", err, "No token in the request")
}

func TestJWSIssueRefuses(t *testing.T) {
	p := provider(t, jws.ES256)
	for name, in := range map[string]token.Token{
		"no user":         {AuditIDs: []string{"a"}},
		"no audit id":     {UserID: "u"},
		"three audit ids": {UserID: "u", AuditIDs: []string{"a", "b", "c"}},
	} {
		if text, err := p.Issue(&in); err == nil || text != "" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
}

func BenchmarkJWS(b *testing.B) {
	for _, alg := range jws.Algorithms {
		p := provider(b, alg)
		in := token.Token{UserID: userID, Methods: pw, ProjectID: scopeID, AuditIDs: []string{ownAudit}, ExpiresAt: expires}
		text, err := p.Issue(&in)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Join(string(alg), "Issue"), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Issue(&in); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(filepath.Join(string(alg), "Decode"), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Decode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
