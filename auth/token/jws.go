package token

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/jws"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// JWS is the provider of signed tokens, which anybody can read and nobody can
// change (keystone/token/providers/jws/core.py). It knows no receipts.
type JWS struct {
	keys *jws.Keys
	now  func() time.Time
}

// NewJWS takes the keys and the clock.
func NewJWS(keys *jws.Keys, now func() time.Time) *JWS { return &JWS{keys, now} }

// skew is how far the clock of the server that issued a token may be ahead.
// Python Keystone allows none and answers 500.
const skew = time.Minute

// textNoToken is what Keystone says of a text that no key has signed. The log
// shows it without the text, which may be another cloud's valid token.
const textNoToken = "Could not find token: %s."

func refuseJWS(text string) error {
	f := fault.New(fault.NotFound, textNoToken, text)
	return &refusal{fault: f, log: "the token is not signed by a known key, or is not Keystone's"}
}

// Issue signs a token; it implements Provider. Version stays 0, since only
// Fernet has versions.
func (j *JWS) Issue(t *Token) (string, error) {
	if t.UserID == "" {
		return "", fmt.Errorf("issue token: no user")
	}
	if n := len(t.AuditIDs); n < 1 || n > maxAudits {
		return "", fmt.Errorf("issue token: %d audit ids", n)
	}
	issued := cut(j.now())
	expires := cut(t.ExpiresAt)
	text, err := j.keys.Sign(pyjson.AppendDense(nil, claims(t, issued, expires)))
	if err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	t.Version, t.IssuedAt, t.ExpiresAt = 0, issued, expires
	return text, nil
}

// claims lists what Python Keystone lists, in its order, without what is None.
func claims(t *Token, issued, expires time.Time) pyjson.Object {
	c := pyjson.Object{
		{Key: "sub", Value: t.UserID},
		{Key: "iat", Value: issued.Unix()},
		{Key: "exp", Value: expires.Unix()},
		{Key: "openstack_methods", Value: orEmpty(t.Methods)},
		{Key: "openstack_audit_ids", Value: t.AuditIDs},
	}
	add := func(key, value string) {
		if value != "" {
			c = append(c, pyjson.Member{Key: key, Value: value})
		}
	}
	add("openstack_system", t.System)
	add("openstack_domain_id", t.DomainID)
	add("openstack_project_id", t.ProjectID)
	add("openstack_trust_id", t.TrustID)
	if t.Federated {
		groups := make([]pyjson.Object, len(t.GroupIDs))
		for i, id := range t.GroupIDs {
			groups[i] = pyjson.Object{{Key: "id", Value: id}}
		}
		c = append(c, pyjson.Member{Key: "openstack_group_ids", Value: groups})
	}
	add("openstack_idp_id", t.IDPID)
	add("openstack_protocol_id", t.ProtocolID)
	add("openstack_access_token_id", t.AccessTokenID)
	add("openstack_app_cred_id", t.AppCredID)
	add("openstack_thumbprint", t.Thumbprint)
	return c
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Decode verifies a token; it implements Provider. Expired ones are read, as
// with Fernet.
func (j *JWS) Decode(text string) (*Token, error) {
	if text == "" {
		return nil, refuse(textNone)
	}
	payload, err := j.keys.Verify(text)
	if err != nil {
		return nil, refuseJWS(text)
	}
	c, err := pyjson.DecodeObject(payload)
	if err != nil {
		return nil, refuseJWS(text)
	}
	r := claimReader{Object: c}
	t := r.token()
	latest := j.now().Add(skew)
	if r.bad || t.IssuedAt.After(latest) || r.notBefore().After(latest) || r.has("aud") {
		return nil, refuseJWS(text)
	}
	return t, nil
}

// claimReader takes claims apart. After something that does not fit it is bad;
// Python Keystone breaks off with 500 there.
type claimReader struct {
	pyjson.Object
	bad bool
}

func (r *claimReader) token() *Token {
	t := &Token{
		UserID:        r.text("sub", true),
		IssuedAt:      r.time("iat"),
		ExpiresAt:     r.time("exp"),
		Methods:       r.texts("openstack_methods"),
		AuditIDs:      r.texts("openstack_audit_ids"),
		System:        r.text("openstack_system", false),
		DomainID:      r.text("openstack_domain_id", false),
		ProjectID:     r.text("openstack_project_id", false),
		TrustID:       r.text("openstack_trust_id", false),
		IDPID:         r.text("openstack_idp_id", false),
		ProtocolID:    r.text("openstack_protocol_id", false),
		AccessTokenID: r.text("openstack_access_token_id", false),
		AppCredID:     r.text("openstack_app_cred_id", false),
		Thumbprint:    r.text("openstack_thumbprint", false),
	}
	if n := len(t.AuditIDs); n < 1 || n > maxAudits || slices.Contains(t.AuditIDs, "") {
		r.bad = true
	}
	if v, ok := r.Get("openstack_group_ids"); ok && v != nil {
		t.Federated, t.GroupIDs = true, r.groups(v)
	}
	return t
}

// text is a claim that holds a string. None is "", and so is a claim that is
// not there; where there must be one, neither will do.
func (r *claimReader) text(key string, must bool) string {
	v, _ := r.Get(key)
	s, ok := v.(string)
	switch {
	case ok && s != "" && !strings.Contains(s, "\x00"):
		return s
	case v != nil && !ok, strings.Contains(s, "\x00"), must:
		r.bad = true
	}
	return ""
}

func (r *claimReader) texts(key string) []string {
	v, _ := r.Get(key)
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, isText := item.(string)
		ok = ok && isText && !strings.Contains(s, "\x00")
		out = append(out, s)
	}
	r.bad = r.bad || !ok
	return out
}

func (r *claimReader) groups(v any) []string {
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		g, _ := item.(pyjson.Object)
		id, isText := g.String("id")
		ok = ok && isText && id != "" && !strings.Contains(id, "\x00")
		out = append(out, id)
	}
	r.bad = r.bad || !ok
	return out
}

func (r *claimReader) has(key string) bool {
	v, _ := r.Get(key)
	return v != nil
}

func (r *claimReader) notBefore() time.Time {
	if !r.has("nbf") {
		return time.Time{}
	}
	return r.time("nbf")
}

// time is a claim in seconds since 1970; a fraction is cut.
func (r *claimReader) time(key string) time.Time {
	v, _ := r.Get(key)
	n, _ := v.(json.Number)
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > lastSecond {
		r.bad = true
		return time.Time{}
	}
	return time.Unix(int64(f), 0).UTC()
}
