package token_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/auth/token"
)

// payloadToken seals a payload given in hex, spaces aside.
func payloadToken(t testing.TB, text string) string {
	t.Helper()
	payload, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return parseKey(t, vectorKey).Seal(payload, vectorIV, issued)
}

// Elements of payloads, in msgpack.
const (
	xUser    = "92c3c4101a2b3c4d5e6f40718293a4b5c6d7e8f9 "
	xScope   = "92c3c41000112233445566778899aabbccddeeff "
	xExpires = "cb41dac38380000000 "
	xAudit   = "91c410000102030405060708090a0b0c0d0e0f "
)

func TestDecodeTolerates(t *testing.T) {
	f := token.NewFernet(repository(t, vectorKey), listed, "sixteen-letters!")
	project := token.Token{Version: 2, Methods: pw, ProjectID: scopeID}
	cases := map[string]struct {
		payload string
		want    token.Token
	}{
		"ids as bin, as keystone-rs writes": {
			"96 02 92c2c403616263 02 92c2c40378797a " + xExpires + xAudit,
			token.Token{Version: 2, UserID: "abc", Methods: pw, ProjectID: "xyz"},
		},
		"uuid as str, audit as str": {
			"96 02 92c3b01a2b3c4d5e6f40718293a4b5c6d7e8f9 02" + xScope + xExpires + "91b0000102030405060708090a0b0c0d0e0f",
			project,
		},
		"expiry as int":          {"96 02" + xUser + "02" + xScope + "ce6b0e1000" + xAudit, project},
		"expiry with a fraction": {"96 02" + xUser + "02" + xScope + "cb41dac38400200000" + xAudit, project},
		"expiry as float32":      {"96 02" + xUser + "02" + xScope + "ca4ed61c00" + xAudit, project},
		"a long array header":    {"dc0006 02" + xUser + "02" + xScope + xExpires + xAudit, project},
		"a version in two bytes": {"96 cc02" + xUser + "02" + xScope + xExpires + xAudit, project},
		"protocol and system as bin": {
			"96 08" + xUser + "02 c403616c6c" + xExpires + xAudit,
			token.Token{Version: 8, Methods: pw, System: "all"},
		},
		"a default domain of sixteen letters": {
			"96 01" + xUser + "02 b07369787465656e2d6c65747465727321" + xExpires + xAudit,
			token.Token{Version: 1, Methods: pw, DomainID: "sixteen-letters!"},
		},
		"mTLS with a domain": {
			"98 0a" + xUser + "00" + xScope + xScope + xExpires + xAudit + "92c2a474657374",
			token.Token{Version: 10, Methods: []string{}, ProjectID: scopeID, DomainID: scopeID, Thumbprint: "test"},
		},
		"no group": {
			"98 04" + xUser + "10 90 92c2c0 c40178" + xExpires + xAudit,
			token.Token{Version: 4, Methods: []string{"mapped"}, Federated: true, GroupIDs: []string{}, ProtocolID: "x"},
		},
	}
	for name, c := range cases {
		got, err := f.Decode(payloadToken(t, c.payload))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := vectorToken(c.want)
		want.ExpiresAt = got.ExpiresAt
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if d := got.ExpiresAt.Sub(expires); d.Abs() > 24*time.Hour || got.ExpiresAt.Nanosecond() != 0 {
			t.Errorf("%s: expires %v", name, got.ExpiresAt)
		}
	}
}

// Whatever does not fit a known version is an unknown token, never a panic
// and never a token with a part missing.
func TestDecodeRefuses(t *testing.T) {
	f := token.NewFernet(repository(t, vectorKey), listed, "default")
	const unknown = "Could not recognize Fernet token"
	tail := xExpires + xAudit
	for name, payload := range map[string]string{
		"nothing":                "",
		"no array":               "02",
		"nil":                    "c0",
		"an empty array":         "90",
		"a map":                  "8102c0",
		"a version of text":      "95a130" + xUser + "02" + tail,
		"a version below 0":      "95ff" + xUser + "02" + tail,
		"a true version":         "95c3" + xUser + "02" + tail,
		"one element":            "9100",
		"an element less":        "9402" + xUser + "02" + xScope + xExpires,
		"an element more":        "9600" + xUser + "02" + tail + "c0",
		"a header too long":      "9600" + xUser + "02" + tail,
		"a header too short":     "9400" + xUser + "02" + tail,
		"trailing bytes":         "9500" + xUser + "02" + tail + "00",
		"cut short":              "9500" + xUser + "02" + xExpires + "91c41000",
		"no user":                "950092c2c002" + tail,
		"an empty user":          "950092c2a002" + tail,
		"a bare user":            "9500a16102" + tail,
		"a short uuid":           "950092c3c4021a2b02" + tail,
		"a long uuid":            "950092c3c4111a2b3c4d5e6f40718293a4b5c6d7e8f9ff02" + tail,
		"a uuid of nil":          "950092c3c002" + tail,
		"a flag of 1":            "950092 01 c4101a2b3c4d5e6f40718293a4b5c6d7e8f9 02" + tail,
		"a triple":               "950093c2a161c002" + tail,
		"a user with NUL":        "950092c2a3610062 02" + tail,
		"a user not in UTF-8":    "950092c2a2c328 02" + tail,
		"methods of text":        "9500" + xUser + "a132" + tail,
		"methods below 0":        "9500" + xUser + "ff" + tail,
		"expiry of text":         "9500" + xUser + "02a130" + xAudit,
		"expiry of nil":          "9500" + xUser + "02c0" + xAudit,
		"expiry below 0":         "9500" + xUser + "02cbbff0000000000000" + xAudit,
		"expiry not a number":    "9500" + xUser + "02cb7ff8000000000001" + xAudit,
		"infinite expiry":        "9500" + xUser + "02cb7ff0000000000000" + xAudit,
		"expiry in year 10000":   "9500" + xUser + "02cf0000003afff44180" + xAudit,
		"no audit id":            "9500" + xUser + "02" + xExpires + "90",
		"an empty audit id":      "9500" + xUser + "02" + xExpires + "91c400",
		"audit ids of nil":       "9500" + xUser + "02" + xExpires + "c0",
		"three audit ids":        "9500" + xUser + "02" + xExpires + "93c40101c40102c40103",
		"endless audit ids":      "9500" + xUser + "02" + xExpires + "ddffffffff",
		"another default domain": "9601" + xUser + "02a56f74686572" + tail,
		"a trust in a pair":      "9703" + xUser + "02" + xScope + tail + xScope,
		"a trust of text":        "9703" + xUser + "02" + xScope + tail + "a3616263",
		"endless groups":         "9804" + xUser + "10ddffffffff92c2c0a178" + tail,
		"groups of text":         "9804" + xUser + "10a3616263" + "92c2c0a178" + tail,
		"a protocol of nil":      "9804" + xUser + "1090 92c2c0 c0" + tail,
	} {
		got, err := f.Decode(payloadToken(t, payload))
		if got != nil {
			t.Errorf("%s: got %+v", name, got)
		}
		refused(t, name, err, unknown)
	}
	for name, c := range map[string][2]string{
		"keystone-rs's version": {"99 0b" + xUser + "02" + xScope + xExpires + xScope + "c2c2" + xAudit, "This is not a recognized Fernet payload version: 11"},
		"an unknown version":    {"92 2a c0", "This is not a recognized Fernet payload version: 42"},
	} {
		_, err := f.Decode(payloadToken(t, c[0]))
		refused(t, name, err, c[1])
	}
	for text, words := range map[string]string{
		"":        "No token in the request",
		"rubbish": unknown,
		"eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2ln":                                         unknown,
		parseKey(t, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").Seal([]byte("x"), vectorIV, issued): unknown,
	} {
		_, err := f.Decode(text)
		refused(t, text, err, words)
	}
}

func TestIssueRefuses(t *testing.T) {
	f := token.NewFernet(repository(t, vectorKey), listed, "default")
	for name, v := range map[string]token.Token{
		"a domain that is neither":  {UserID: userID, DomainID: "acme"},
		"a trust id":                {UserID: userID, TrustID: "trust"},
		"a federated system token":  {UserID: userID, Federated: true, System: "all"},
		"no user":                   {},
		"an audit id with a stroke": {UserID: userID, AuditIDs: []string{"a/b"}},
		"an empty audit id":         {UserID: userID, AuditIDs: []string{""}},
		"three audit ids":           {UserID: userID, AuditIDs: []string{ownAudit, ownAudit, ownAudit}},
		"no audit id":               {UserID: userID, AuditIDs: []string{}},
	} {
		v.ExpiresAt = expires
		if v.AuditIDs == nil {
			v.AuditIDs = []string{ownAudit}
		}
		if text, err := f.Issue(&v); err == nil || text != "" || errors.Is(err, token.ErrNotFound) {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	if _, err := f.IssueReceipt(&token.Receipt{Methods: pw, ExpiresAt: expires}); err == nil {
		t.Error("a receipt of nobody: no error")
	}
}

// Ids come back as Python's uuid.UUID reads them.
func TestIDs(t *testing.T) {
	f := token.NewFernet(repository(t, vectorKey), listed, "default")
	for id, want := range map[string]string{
		userID:                                          userID,
		strings.ToUpper(userID):                         userID,
		"1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8f9":          userID,
		"{1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8f9}":        userID,
		"urn:uuid:1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8f9": userID,
		"{{" + userID + "}":                             userID,
		userID[:31]:                                     userID[:31],
		userID + "0":                                    userID + "0",
		userID[:31] + "g":                               userID[:31] + "g",
		strings.Repeat("ab", 32):                        strings.Repeat("ab", 32),
		strings.Repeat("-", 32):                         strings.Repeat("-", 32),
		"ü":                                             "ü",
		strings.Repeat("x", 300):                        strings.Repeat("x", 300),
	} {
		in := token.Token{UserID: id, ProjectID: id, ExpiresAt: expires, AuditIDs: []string{ownAudit}}
		text, err := f.Issue(&in)
		if err != nil {
			t.Errorf("%s: Issue: %v", id, err)
			continue
		}
		if got, err := f.Decode(text); err != nil || got.UserID != want || got.ProjectID != want {
			t.Errorf("%s: got %+v, %v, want %s", id, got, err, want)
		}
	}
}

func TestMethods(t *testing.T) {
	many := []string{"external", "password", "token", "oauth1", "mapped", "application_credential", "totp", "kerberos", "openid", "saml2"}
	cases := []struct {
		name, number     string
		listed, in, want []string
	}{
		{"none", "00", listed, nil, nil},
		{"falling order, whatever was given", "06", listed, []string{"password", "token"}, []string{"token", "password"}},
		{"given twice", "02", listed, []string{"password", "password"}, pw},
		{"beyond eight bits", "cd0382", many, []string{"saml2", "openid", "kerberos", "password"}, []string{"saml2", "openid", "kerberos", "password"}},
		{"one that is not listed", "02", listed, []string{"password", "openid"}, pw},
		{"a pseudo-method in the list", "40", append(listed[:6:6], "ec2credential"), []string{"ec2credential"}, []string{"ec2credential"}},
		{"a pseudo-method that is not", "00", listed, []string{"ec2credential", "oauth2_credential"}, nil},
		{"bit 32", "cf0000000100000000", listed, nil, []string{"ec2credential"}},
		{"bit 33", "cf0000000200000000", listed, nil, []string{"oauth2_credential"}},
		{"bits 33, 32 and ordinary ones", "cf0000000300000006", listed, nil, []string{"oauth2_credential", "ec2credential", "token", "password"}},
		{"bit 32 and the list's own", "cf0000000100000040", append(listed[:6:6], "ec2credential"), nil, []string{"ec2credential"}},
		{"a bit above the list hides the rest", "cc82", listed, nil, nil},
		{"the highest bit", "cf8000000000000002", listed, nil, nil},
		{"an empty list", "7f", nil, nil, nil},
	}
	for _, c := range cases {
		f := token.NewFernet(repository(t, vectorKey), c.listed, "default")
		if c.in != nil {
			text, err := f.Issue(&token.Token{UserID: userID, Methods: c.in, ExpiresAt: expires, AuditIDs: []string{ownAudit}})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			payload, _, err := repository(t, vectorKey).Decrypt(text)
			want := strings.ReplaceAll("9500"+xUser+c.number+xExpires+xAudit, " ", "")
			if err != nil || hex.EncodeToString(payload) != want {
				t.Errorf("%s: got %x, %v, want %s", c.name, payload, err, want)
			}
		}
		got, err := f.Decode(payloadToken(t, "9500"+xUser+c.number+xExpires+xAudit))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(append([]string{}, c.want...), got.Methods); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

// A list that a caller extends must not reach into another token's.
func TestListsAreTheTokensOwn(t *testing.T) {
	f := token.NewFernet(repository(t, vectorKey), listed, "default")
	got, err := f.Decode(vectors[0].text)
	if err != nil {
		t.Fatal(err)
	}
	a, b := append(got.Methods, "a"), append(got.Methods, "b")
	c, d := append(got.AuditIDs, "c"), append(got.AuditIDs, "d")
	if a[1] != "a" || b[1] != "b" || c[1] != "c" || d[1] != "d" {
		t.Errorf("lists share their room: %v %v %v %v", a, b, c, d)
	}
}

func TestDecodeAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled buffers on purpose")
	}
	f := token.NewFernet(repository(t, vectorKey), listed, "default")
	for _, v := range vectors {
		want := 3.0 // the cipher's state, the token, its text
		if v.token.Federated && len(v.token.GroupIDs) > 0 {
			want++
		}
		got := testing.AllocsPerRun(1000, func() {
			if _, err := f.Decode(v.text); err != nil {
				t.Fatal(err)
			}
		})
		if got > want {
			t.Errorf("%s: Decode: %v allocations, want at most %v", v.name, got, want)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	f := token.NewFernet(repository(b, vectorKey), listed, "default")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Decode(vectors[4].text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIssue(b *testing.B) {
	f := token.NewFernet(repository(b, vectorKey), listed, "default")
	t := vectorToken(vectors[4].token)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Issue(&t); err != nil {
			b.Fatal(err)
		}
	}
}
