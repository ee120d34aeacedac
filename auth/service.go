package auth

import (
	"time"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
)

// Config is what logins and validations take from keystone.conf; durations
// stand for options in seconds.
type Config struct {
	Methods            []string      // [auth] methods, in file order
	PrimaryMethods     []string      // [auth] additional_primary_auth_methods
	Expiration         time.Duration // [token] expiration
	AllowExpiredWindow time.Duration // [token] allow_expired_window
	RescopeScoped      bool          // [token] allow_rescope_scoped_token
	ReceiptExpiration  time.Duration // [receipt] expiration
	StrictProjectNames bool          // [resource] project_name_url_safe = strict
	StrictDomainNames  bool          // [resource] domain_name_url_safe = strict
	AdminProject       string        // [resource] admin_project_name
	AdminProjectDomain string        // [resource] admin_project_domain_name
	AllEndpoints       bool          // [endpoint_filter] return_all_endpoints_if_no_filter
	PublicEndpoint     string        // [DEFAULT] public_endpoint
	AdminToken         string        // [DEFAULT] admin_token
	Remember           bool          // [keystone_go] remember_reads
	IdleDays           *int          // [security_compliance] disable_user_account_days_inactive
	MembershipMinutes  int           // [federation] default_authorization_ttl
	Provider           string        // [token] provider
	Observer           Observer      // told what became of logins and tokens; nil: nobody is
}

// Tokens is what the service needs of a token provider.
type Tokens interface {
	token.Provider
	IssueReceipt(*token.Receipt) (string, error)
	DecodeReceipt(string) (*token.Receipt, error)
}

// Service logs in, validates and revokes.
type Service struct {
	Config
	db       db.DB
	reads    db.Conn // for validations
	tokens   Tokens
	password method.Password
	methods  map[string]method.Method
	revoker  cascade.Revoker
	now      func() time.Time
	evening  *evening
	drawn    drawn
}

// New makes the service; the methods that are built are password and token.
func New(cfg Config, d db.DB, tokens Tokens, password method.Password, revoker cascade.Revoker, now func() time.Time) *Service {
	s := &Service{Config: cfg, db: d, reads: d, tokens: tokens, password: password, revoker: revoker, now: now, evening: newEvening()}
	if cfg.Remember {
		s.reads = db.Remember(d)
	}
	if s.Observer == nil {
		s.Observer = unobserved{}
	}
	s.methods = map[string]method.Method{
		"password": password,
		"token":    method.Token{Load: s.loadSource, Rescope: cfg.RescopeScoped, Primary: cfg.PrimaryMethods},
	}
	return s
}

// Opened is a token that Decodes has opened, for the Check of the same request.
type Opened struct {
	id    string
	token *token.Token
}

// Decodes tells whether a text is a token of this cloud that has not expired;
// it asks no database.
func (s *Service) Decodes(id string) (Opened, bool) {
	if s.isAdminToken(id) {
		return Opened{}, true
	}
	t, err := s.tokens.Decode(id)
	switch {
	case err != nil:
		s.Observer.Validated(validity(err))
		return Opened{}, false
	case !s.now().UTC().Before(t.ExpiresAt):
		s.Observer.Validated(validity(errExpired))
		return Opened{}, false
	}
	return Opened{id, t}, true
}
