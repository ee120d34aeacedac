// Package v3 is all HTTP of the Identity API v3: one table of routes, one
// pipeline that every request passes, and a file for each resource.
package v3

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// Validator validates tokens.
type Validator interface {
	// Validate looks at the tokens of one request in one batch.
	Validate(ctx context.Context, c auth.Check) (auth.Result, error)
	// Decodes reports whether a token is one of ours, whatever became of it
	// since. It asks no database.
	Decodes(tokenID string) bool
}

// Enforcer decides whether a caller may do something.
type Enforcer interface {
	Enforce(ctx context.Context, rule string, creds policy.Credentials, target policy.Target) error
}

// Config is what the API is made of. The zero value of a setting is its off;
// MaxBody has to be given.
type Config struct {
	Auth    Validator
	Policy  Enforcer
	Limits  *ratelimit.Set
	Clients *clientaddr.Resolver
	Metrics *ops.Metrics // nil: nothing is counted
	Log     *slog.Logger

	PublicEndpoint string // [DEFAULT] public_endpoint
	PathPrefix     string // [keystone_go] path_prefix, such as /identity
	MaxBody        int64  // [oslo_middleware] max_request_body_size, bytes
	ParseProxy     bool   // [oslo_middleware] enable_proxy_headers_parsing
	ProxiesListed  bool   // [rate_limit_trusted_proxies] trusted_proxies is not empty
	InsecureDebug  bool   // [DEFAULT] insecure_debug

	Now func() time.Time
	// Routes are the rows to serve, from Table and the resources.
	Routes []Route
}

// API serves the Identity API.
type API struct {
	cfg  Config
	echo *echo.Echo
	rows []*Route
}

// New builds the server of the given rows. It fails on a row that Mount may
// not serve: without a method, a limit class, a rule known to be open or Do.
func New(cfg Config) (*API, error) {
	a := &API{cfg: cfg, echo: echo.New()}
	a.cfg.PathPrefix = cleanPrefix(cfg.PathPrefix)
	if a.cfg.Now == nil {
		a.cfg.Now = zeroClock
	}
	if a.cfg.Log == nil {
		a.cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := a.mount(); err != nil {
		return nil, err
	}
	return a, nil
}

// zeroClock stands still; only durations are lost by it.
func zeroClock() time.Time { return time.Time{} }

var _ http.Handler = (*API)(nil)
