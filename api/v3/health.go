package v3

import (
	"net/http"

	"github.com/keystone-go/keystone-go/ratelimit"
)

// healthPath answers balancers; it asks no database (oslo.middleware's
// healthcheck with no backend configured).
const healthPath = "/healthcheck"

const forBalancers = "balancers ask it all the time and decide by it"

func healthRoutes() []Route {
	return []Route{
		{Method: "GET", Path: healthPath, Rule: Open, Limit: ratelimit.ClassExempt, Exempt: forBalancers, Do: getHealth},
		{Method: "HEAD", Path: healthPath, Rule: Open, Limit: ratelimit.ClassExempt, Exempt: forBalancers, Do: headHealth},
	}
}

func headHealth(*Call) (Reply, error) { return noContent(), nil }

func getHealth(c *Call) (Reply, error) {
	reply := Reply{Status: http.StatusOK, Header: http.Header{}, Body: []byte{}}
	media := "text/plain; charset=UTF-8"
	switch bestMatch(c.Request().Header.Get("Accept"), "text/plain", "text/html", mediaJSON) {
	case "text/html":
		media = "text/html; charset=UTF-8"
		reply.Body = []byte("<!doctype html>\n<title>Healthcheck Status</title>\n<h2>Result of 0 checks:</h2>\n")
	case mediaJSON:
		media = mediaJSON
		reply.Body = []byte("{\n    \"detailed\": false,\n    \"reasons\": []\n}")
	}
	reply.Header.Set("Content-Type", media)
	return reply, nil
}
