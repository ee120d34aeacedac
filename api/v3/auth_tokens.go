package v3

import (
	"net/http"
	"slices"
	"strings"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

const tokensPath = "/v3/auth/tokens"

// authTokens serves /v3/auth/tokens (keystone/api/auth.py).
type authTokens struct{ *auth.Service }

func (h authTokens) routes() []Route {
	return []Route{
		{Method: "POST", Path: tokensPath, Rule: Open, Do: h.post, Limit: ratelimit.ClassAuth, Rel: "auth_tokens"},
		{Method: "GET", Path: tokensPath, Rule: "identity:validate_token", Target: subjectTarget, TargetFirst: true, Subject: true, Want: wantSubject, Do: h.get, Limit: ratelimit.ClassToken, Rel: "auth_tokens"},
		{Method: "HEAD", Path: tokensPath, Rule: "identity:check_token", Target: subjectTarget, TargetFirst: true, Subject: true, Want: wantSubject, Do: h.get, Limit: ratelimit.ClassToken, Rel: "auth_tokens"},
		{Method: "DELETE", Path: tokensPath, Rule: "identity:revoke_token", Target: subjectTarget, TargetFirst: true, Subject: true, Do: h.delete, Limit: ratelimit.ClassToken, Rel: "auth_tokens"},
	}
}

func (h authTokens) post(c *Call) (Reply, error) {
	r, err := h.ParseRequest(c.JSON())
	if err != nil {
		return Reply{}, err
	}
	r.Receipt = c.Request().Header.Get("Openstack-Auth-Receipt")
	r.Catalog = !c.has("nocatalog")
	r.Client = guess.Client{Addr: c.Addr, Exempt: c.Unlimited}
	id, err := h.Authenticate(c.Ctx(), r)
	if err != nil {
		return Reply{}, err
	}
	c.identify(id)
	c.Issued = id
	return tokenReply(http.StatusCreated, id), nil
}

func (h authTokens) get(c *Call) (Reply, error) {
	if c.SubjectErr != nil {
		return Reply{}, c.SubjectErr
	}
	return tokenReply(http.StatusOK, c.Subject), nil
}

func (h authTokens) delete(c *Call) (Reply, error) {
	if c.SubjectErr != nil {
		return Reply{}, c.SubjectErr
	}
	if err := h.Revoke(c.Ctx(), c.Subject, !slices.Contains(falseWords, word(c.Query("cascade")))); err != nil {
		return Reply{}, err
	}
	return noContent(), nil
}

func tokenReply(status int, id *auth.Identity) Reply {
	return Reply{
		Status: status,
		Body:   pyjson.Object{{Key: "token", Value: id.Body()}},
		Bare:   true,
		Header: http.Header{"X-Subject-Token": {id.ID}},
	}
}

// subjectTarget is the owner of the subject token; a bad subject is a 404 even
// to a caller who would be refused. Where none is named the rule is asked
// without one, and who passes it learns that none is named.
func subjectTarget(c *Call) (policy.Target, error) {
	if _, named := c.Request().Header["X-Subject-Token"]; !named {
		return nil, nil
	}
	if c.SubjectErr != nil {
		return nil, c.SubjectErr
	}
	return policy.Target{
		"target.token.user_id":        c.Subject.User.ID,
		"target.token.user.domain.id": c.Subject.User.DomainID,
	}, nil
}

// trueWords and falseWords are those of oslo.utils' strutils.
var (
	trueWords  = []string{"1", "t", "true", "on", "y", "yes"}
	falseWords = []string{"0", "f", "false", "off", "n", "no"}
)

func word(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func wantSubject(c *Call, check *auth.Check) {
	check.Catalog = !c.has("nocatalog")
	check.AllowExpired = slices.Contains(trueWords, word(c.Query("allow_expired")))
}

// has tells whether a query parameter is there at all.
func (c *Call) has(name string) bool {
	_, ok := c.query[name]
	return ok
}
