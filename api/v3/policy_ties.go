package v3

import (
	"context"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// policyTies serves OS-ENDPOINT-POLICY: which policy is for which endpoint
// (keystone/api/policy.py, keystone/api/endpoints.py).
type policyTies struct{ catalog.Policies }

func (h policyTies) routes() []Route {
	const of = "/v3/policies/{policy_id}/OS-ENDPOINT-POLICY/"
	const rel = "ext/OS-ENDPOINT-POLICY/1.0/rel/"
	rows := []Route{
		{Method: "GET", Path: "/v3/endpoints/{endpoint_id}/OS-ENDPOINT-POLICY/policy", Rule: "identity:get_policy_for_endpoint", Do: h.forEndpoint, Limit: ratelimit.ClassToken, Rel: rel + "endpoint_policy", Summary: "Show the policy of an endpoint"},
		{Method: "GET", Path: of + "endpoints", Rule: "identity:list_endpoints_for_policy", Do: listOf("endpoints", "policy_id", h.Endpoints, olderView), Limit: ratelimit.ClassToken, Rel: rel + "policy_endpoints", Summary: "List the endpoints that a policy is for"},
	}
	for _, x := range []struct{ path, rule, rel, what string }{
		{"endpoints/{endpoint_id}", "endpoint", "endpoint_policy_association", "an endpoint"},
		{"services/{service_id}", "service", "service_policy_association", "a service"},
		{"services/{service_id}/regions/{region_id}", "region_and_service", "region_and_service_policy_association", "a service in a region"},
	} {
		row := func(method, verb, summary string, do func(context.Context, string, catalog.PolicyFor) error, status int) Route {
			return Route{
				Method: method, Path: of + x.path, Rule: "identity:" + verb + "_policy_association_for_" + x.rule, Do: tie(do),
				Limit: ratelimit.ClassToken, Rel: rel + x.rel, Summary: summary + " " + x.what, Status: status,
			}
		}
		rows = append(rows,
			row("GET", "check", "Check the policy of", h.Tied, 204),
			row("PUT", "create", "Set the policy of", h.Tie, 204),
			row("DELETE", "delete", "Take the policy from", h.Untie, 0))
	}
	return rows
}

// tie does something with the policy and what the path says that it is for.
func tie(do func(context.Context, string, catalog.PolicyFor) error) func(*Call) (Reply, error) {
	return func(c *Call) (Reply, error) {
		f := catalog.PolicyFor{EndpointID: c.Param("endpoint_id"), ServiceID: c.Param("service_id"), RegionID: c.Param("region_id")}
		return done(do(c.Ctx(), c.Param("policy_id"), f))
	}
}

// olderView is an endpoint without its region's older name, as Python Keystone
// shows it here.
func olderView(c *Call, e catalog.Endpoint) pyjson.Object {
	return c.linked(plainEndpoint(e), "endpoints", e.ID)
}

func (h policyTies) forEndpoint(c *Call) (Reply, error) {
	p, err := h.ForEndpoint(c.Ctx(), c.Param("endpoint_id"))
	if err != nil {
		return Reply{}, err
	}
	// The link is Python's, which leads nowhere.
	return ok("policy", c.linked(plainPolicy(p), "endpoints", p.ID)), nil
}
