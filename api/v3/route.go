package v3

import (
	"net/http"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// Open is the rule of the rows that ask nobody who he is.
const Open = ""

// Route is one line of the API.
type Route struct {
	// Method and Path name the row as the route list does:
	// "GET", "/v3/regions/{region_id}". HEAD is added beside each GET that
	// has no row for it.
	Method, Path string
	// Rule is the oslo.policy rule that is enforced, or Open.
	Rule string
	// Other is the rule in place of Rule where Choose says so, asked after
	// Target: domain-specific roles have rules of their own. Without Choose it
	// is what Do asks of each item of a list.
	Other  string
	Choose func(*Call) bool
	// Target loads what Rule may look at beside the path's arguments, and may
	// keep it on the Call for Do. A NotFound of it is held back until the
	// rule, asked without the object, has let the caller through.
	Target func(*Call) (policy.Target, error)
	// TargetFirst answers Target's NotFound before the rule is asked, on the
	// rows where Python Keystone does so.
	TargetFirst bool
	// Do does the work and gives the answer.
	Do func(*Call) (Reply, error)
	// Limit says when limits by address are charged; left out, it follows from
	// Rule.
	Limit ratelimit.Class
	// Exempt is the reason why a row of ClassExempt is never limited.
	Exempt string
	// Rel is the JSON-home relation, for the route list.
	Rel string
	// Audited is the kind of resource of which a success of the row tells that
	// it was created (POST, PUT), updated (PATCH) or deleted (DELETE), in
	// notifications' words: "service". Empty tells nothing but what Do tells
	// by Call.tell. Of role_assignment it is told too that it failed.
	Audited string
	// Summary says in a few words what the row does, for the OpenAPI document.
	Summary string
	// Status is the answer's, where it is not the usual one of the method; the
	// OpenAPI document shows it.
	Status int
	// Body and Query are the schemas of body and parameters, checked first.
	Body  *shape
	Query *query
	// Hidden are members of the body that no rule may see, beside those that
	// are hidden on every row.
	Hidden []string
	// Check looks at what schemas cannot say of body and query. It runs before
	// authentication, as Keystone's schemas do.
	Check func(*Call) error
	// Subject is set on the rows whose X-Subject-Token is validated together
	// with the caller.
	Subject bool
	// Want changes what is asked of the tokens' validation.
	Want func(*Call, *auth.Check)

	plan plan // which limits hold
}

// Reply is an answer that has yet to be written.
type Reply struct {
	Status int
	// Body is written as JSON; nil leaves the answer empty.
	Body any
	// Bare leaves out the line end behind the body: discovery and tokens have
	// none, every other resource has (flask-restful's output_json).
	Bare bool
	// Header is added to the answer's header. With a Content-Type of its own
	// it may carry a Body of type []byte, which is sent as it stands.
	Header http.Header
}
