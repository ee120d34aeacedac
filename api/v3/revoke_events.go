package v3

import (
	"net/http"
	"time"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/isotime"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// revokeEvents serves /v3/OS-REVOKE (keystone/api/os_revoke.py): what those who
// validate tokens by themselves must know.
type revokeEvents struct{ db db.DB }

func (h revokeEvents) routes() []Route {
	return []Route{
		{Method: "GET", Path: "/v3/OS-REVOKE/events", Rule: "identity:list_revoke_events", Query: &query{fields: []field{{name: "since"}}}, Do: h.list, Limit: ratelimit.ClassToken, Rel: "ext/OS-REVOKE/1.0/rel/events", Summary: "List revocation events"},
	}
}

func (h revokeEvents) list(c *Call) (Reply, error) {
	var after *time.Time
	if since := c.Query("since"); since != "" {
		at, known := isotime.Parse(since)
		if !known {
			return Reply{}, fault.New(fault.BadRequest, "invalidate date format %s", since)
		}
		after = &at
	}
	events, err := auth.Events(c.Ctx(), h.db, after)
	if err != nil {
		return Reply{}, err
	}
	if events == nil {
		events = []pyjson.Object{}
	}
	links := member("next", nil, "self", c.Link("OS-REVOKE", "events"), "previous", nil)
	return Reply{Status: http.StatusOK, Body: member("events", events, "links", links)}, nil
}
