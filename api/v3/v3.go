// Package v3 is all HTTP of the Identity API v3: one table of routes, one
// pipeline that every request passes, and a file for each resource.
package v3

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/trace"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// Validator validates tokens.
type Validator interface {
	// Validate looks at the tokens of one request in one batch.
	Validate(ctx context.Context, c auth.Check) (auth.Result, error)
	// Decodes reports whether a token is one of ours, whatever became of it
	// since. It asks no database. What it opened is for Validate.
	Decodes(tokenID string) (auth.Opened, bool)
}

// Enforcer decides whether a caller may do something.
type Enforcer interface {
	Enforce(ctx context.Context, rule string, creds policy.Credentials, target policy.Target) error
	// Default reports whether a rule is as Keystone has it, and so are those that
	// it refers to.
	Default(rule string) bool
}

// Config is what the API is made of. The first part has to be given; in the
// rest, a zero value is off.
type Config struct {
	Auth    Validator
	Policy  Enforcer
	Clients *clientaddr.Resolver
	Log     *slog.Logger
	Now     func() time.Time
	MaxBody int64   // [oslo_middleware] max_request_body_size, bytes
	Routes  []Route // the rows to serve: Table

	Limits   *ratelimit.Set
	Limiting Limiting
	Metrics  *ops.Metrics
	Notify   *notify.Notifier // told of what audited rows do

	MaxList int // [DEFAULT] max_db_limit; 0 is 1000

	PublicEndpoint string // [DEFAULT] public_endpoint
	PathPrefix     string // [keystone_go] path_prefix, such as /identity
	ParseProxy     bool   // [oslo_middleware] enable_proxy_headers_parsing
	ProxiesListed  bool   // [rate_limit_trusted_proxies] trusted_proxies is not empty
	InsecureDebug  bool   // [DEFAULT] insecure_debug
	CORS           CORS
	Tracer         *trace.Tracer
}

// API serves the Identity API.
type API struct {
	cfg  Config
	echo *echo.Echo
	rows []*Route
	// paths are those of the limits' policies, stranger the plan for what no
	// row is found for.
	paths    patterns
	stranger plan
	overuse  overuse
}

// New builds the server of the given rows. It fails when a part is missing,
// and on a row that must not be served: one without a limit, or whose limit
// does not go with its rule.
func New(cfg Config) (*API, error) {
	if cfg.Auth == nil || cfg.Policy == nil || cfg.Clients == nil || cfg.Log == nil || cfg.Now == nil || cfg.MaxBody <= 0 {
		return nil, errors.New("the API lacks one of its parts")
	}
	a := &API{cfg: cfg, echo: echo.New()}
	if cfg.MaxList == 0 {
		a.cfg.MaxList = 1000
	}
	a.cfg.PathPrefix = cleanPrefix(cfg.PathPrefix)
	if err := a.mount(); err != nil {
		return nil, err
	}
	return a, nil
}

var _ http.Handler = (*API)(nil)
