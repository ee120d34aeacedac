package diff

import "regexp"

// Mask is a rule for a value that two right servers answer differently. It
// covers a value only where that has the right form, so that a wrong form
// stays a difference.
type Mask struct {
	Name   string
	Method string // of the request; empty for all
	Status int    // of the reference's answer; 0 for all
	Path   *regexp.Regexp
	Form   *regexp.Regexp
	Why    string
}

const (
	timeForm = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000Z$`
	hexForm  = `^[0-9a-f]{32}$`
)

// Masks are all there are. What an answer's keep names is masked beside them.
var Masks = []Mask{
	{
		Name: "now", Method: "POST", Path: regexp.MustCompile(`^\$\.(token|receipt)\.(issued_at|expires_at)$`), Form: regexp.MustCompile(timeForm),
		Why: "a login's times are those of the login",
	},
	{
		Name: "audit id", Method: "POST", Path: regexp.MustCompile(`^\$\.token\.audit_ids\[\d\]$`), Form: regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`),
		Why: "each token has an audit id of its own; an exchanged one names its parent's, which is masked where it was kept",
	},
	{
		Name: "new id", Method: "POST", Status: 201, Path: regexp.MustCompile(`^\$\.[a-z_]+(\[\d+\])?\.id$`), Form: regexp.MustCompile(hexForm),
		Why: "the server chooses the id of what it creates",
	},
	{
		Name: "link to a new id", Method: "POST", Status: 201, Path: regexp.MustCompile(`^\$\.[a-z_]+(\[\d+\])?\.links\.self$`), Form: regexp.MustCompile(`^http://[^/]+/v3/([A-Z-]+/)?[a-z_]+/[0-9a-f]{32}$`),
		Why: "the same, in its link",
	},
	{
		Name: "name that is taken", Method: "POST", Status: 409, Path: regexp.MustCompile(`^\$\.error\.message$`), Form: regexp.MustCompile(`^Conflict occurred attempting to store project - it is not permitted .*: name is .*, project id [0-9a-f]{32}\.?$`),
		Why: "the message names the id that the project would have got",
	},
	{
		Name: "revocation", Method: "GET", Path: regexp.MustCompile(`^\$\.events\[\d+\]\.(user_id|project_id|audit_id|audit_chain_id)$`), Form: regexp.MustCompile(`^([0-9a-f]{32}|[A-Za-z0-9_-]{22})$`),
		Why: "all that the scenarios before revoked is in the one list",
	},
	{
		Name: "time of a revocation", Method: "GET", Path: regexp.MustCompile(`^\$\.events\[\d+\]\.(issued_before|revoked_at)$`), Form: regexp.MustCompile(timeForm),
		Why: "it is that of the request",
	},
	{
		Name: "words of a schema error", Status: 400, Path: regexp.MustCompile(`^\$\.error\.message$`),
		Form: regexp.MustCompile(`(?s)Failed validating|^Invalid input: |Invalid input for field/attribute|does not match|is a required property|is not of type|is too (long|short)|Additional properties are not allowed|non-empty|does not have enough properties|is not valid under any|is a dependency of|is valid under each of|should not be valid under`),
		Why:  "D-16: jsonschema's own words with a dump of the schema are no contract",
	},
}

func (r Mask) covers(m masker, path, value string) bool {
	return (r.Method == "" || r.Method == m.method) && (r.Status == 0 || r.Status == m.status) &&
		r.Path.MatchString(path) && r.Form.MatchString(value)
}

// unordered are lists that come out of Python sets or of reads without an order.
var unordered = regexp.MustCompile(`^\$\.token\.(roles|methods|catalog|service_providers)$|\.catalog$|\.endpoints$|\.required_auth_methods(\[\d+\])?$|^\$\.[a-z_]+$|\.tags$|\.implies$|\.project\.limits$|^\$\.error\.identity\.methods$`)
