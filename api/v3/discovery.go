package v3

import (
	_ "embed"
	"net/http"

	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// The version that is served, as Python Keystone 22 to 30 name it.
const (
	apiVersion = "v3.14"
	apiUpdated = "2020-04-07T00:00:00Z"
)

const beforeLogin = "clients look for the version before they hold a token"

func discoveryRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "/", Rule: Open, Limit: ratelimit.ClassExempt, Exempt: beforeLogin, Do: getVersions},
		{Method: "GET", Path: "/v3", Rule: Open, Limit: ratelimit.ClassExempt, Exempt: beforeLogin, Do: getVersion},
	}
}

func getVersions(c *Call) (Reply, error) {
	if wantsHome(c) {
		return home(homeAtRoot), nil
	}
	reply := Reply{Status: http.StatusMultipleChoices, Bare: true, Header: http.Header{"Location": {c.Link("")}}}
	reply.Body = pyjson.Object{{Key: "versions", Value: pyjson.Object{{Key: "values", Value: []any{version(c)}}}}}
	return reply, nil
}

func getVersion(c *Call) (Reply, error) {
	if wantsHome(c) {
		return home(homeAtV3), nil
	}
	return Reply{Status: http.StatusOK, Bare: true, Body: pyjson.Object{{Key: "version", Value: version(c)}}}, nil
}

func version(c *Call) pyjson.Object {
	return pyjson.Object{
		{Key: "id", Value: apiVersion},
		{Key: "status", Value: "stable"},
		{Key: "updated", Value: apiUpdated},
		{Key: "links", Value: []any{pyjson.Object{{Key: "rel", Value: "self"}, {Key: "href", Value: c.Link("")}}}},
		{Key: "media-types", Value: []any{pyjson.Object{
			{Key: "base", Value: mediaJSON}, {Key: "type", Value: "application/vnd.openstack.identity-v3+json"},
		}}},
	}
}

const (
	mediaJSON = "application/json"
	mediaHome = "application/json-home"
)

func wantsHome(c *Call) bool {
	return bestMatch(c.Request().Header.Get("Accept"), mediaJSON, mediaHome) == mediaHome
}

func home(document []byte) Reply {
	return Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {mediaHome}}, Body: document}
}

// homeText holds the relations of Python Keystone's JSON-home document, in its
// order. It lists all of them, whether or not they are served yet: a client
// that asks for one learns that by a 404 of its own.
//
//go:embed jsonhome.json
var homeText []byte

var homeAtV3, homeAtRoot = homeDocuments()

// homeDocuments writes the document as it is at /v3, and with /v3 before each
// reference as it is at the root.
func homeDocuments() (atV3, atRoot []byte) {
	doc, err := pyjson.DecodeObject(homeText)
	if err != nil {
		panic("jsonhome.json: " + err.Error())
	}
	atV3 = pyjson.Append(nil, doc)
	resources, _ := doc.Object("resources")
	for _, r := range resources {
		resource, _ := r.Value.(pyjson.Object)
		for i, m := range resource {
			if href, isText := m.Value.(string); isText && (m.Key == "href" || m.Key == "href-template") {
				resource[i].Value = "/v3" + href
			}
		}
	}
	return atV3, pyjson.Append(nil, doc)
}
