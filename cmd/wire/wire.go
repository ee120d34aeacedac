// Package wire builds the server out of a configuration: the one place where
// everything meets.
package wire

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v3 "github.com/keystone-go/keystone-go/api/v3"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/health"
	"github.com/keystone-go/keystone-go/internal/limitlog"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/ops"
	"github.com/keystone-go/keystone-go/internal/passhash"
	"github.com/keystone-go/keystone-go/internal/pycache"
	"github.com/keystone-go/keystone-go/internal/trace"
	"github.com/keystone-go/keystone-go/internal/uuid"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/migrations"
	"github.com/keystone-go/keystone-go/policy"
	"github.com/keystone-go/keystone-go/ratelimit"
	"github.com/keystone-go/keystone-go/ratelimit/clientaddr"
)

// Options replace parts of the server in tests; the zero value replaces none.
type Options struct {
	DB      db.DB                // instead of [database] connection; not closed
	Now     func() time.Time     // instead of the wall clock
	Tick    func() time.Duration // instead of the monotonic clock of the limits
	Log     *slog.Logger         // instead of slog.Default
	Observe func(db.Event)       // told of every round trip to the database
	// Before is the App that the new one is to take over from. Parts whose
	// options stay the same go over with all that they hold: connections,
	// limiters with their debts, keys, the hashing gate, metrics.
	Before *App
}

// App is a server ready to be listened for.
type App struct {
	Handler http.Handler // the Identity API
	Admin   *ops.Admin   // metrics, live and ready
	Metrics *ops.Metrics
	DB      db.DB
	Auth    *auth.Service
	Users   identity.Users
	Hasher  *passhash.Hasher
	Limits  *ratelimit.Set
	Routes  []v3.Route
	Tracer  *trace.Tracer
	Notify  *notify.Notifier
	// Warnings are for the log at the start.
	Warnings []string

	tokens   tokens
	caches   *pycache.Caches
	parts    map[string]*part
	face     *face
	closed   sync.Once
	guard    lockout.Guard
	guesses  *guess.Guard
	refusals *limitlog.Log
	changes  []change // of limiters that go on, for Adopt
	telling  limitlog.Config
	backend  string // where the limiters count
}

// face is the App that metrics and probes look at: the current one.
type face struct {
	app  atomic.Pointer[App]
	near nearLimit
}

// Close ends what Build started and no other App has taken over; requests must
// have ended before.
func (a *App) Close() {
	a.closed.Do(func() {
		// Events that wait are still completed from the database.
		if p := a.parts[notificationsPart]; p != nil {
			p.release()
		}
		for name, p := range a.parts {
			if name != notificationsPart {
				p.release()
			}
		}
	})
}

// Build makes the server. The error joins everything that is missing or wrong;
// nothing is left running then, and an App before is as it was.
func Build(ctx context.Context, cfg *conf.Config, o Options) (app *App, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	b := &builder{cfg: cfg, Options: o, app: &App{parts: map[string]*part{}}}
	defer func() {
		if err != nil {
			b.app.Close()
		}
	}()
	if err := b.all(ctx); err != nil {
		return nil, err
	}
	if b.Before == nil {
		b.app.face.app.Store(b.app)
	}
	return b.app, nil
}

// all takes every step whose needs are met, so that all faults are told at
// once.
func (b *builder) all(ctx context.Context) error {
	missing := map[string]bool{}
	var faults []error
	for _, s := range []struct {
		name  string
		do    func(context.Context) error
		needs []string
	}{
		{"metrics", b.metrics, nil},
		{"keys", b.keys, nil},
		{"credential keys", b.credentialKeys, nil},
		{"traces", b.traces, nil},
		{"policy", b.policies, nil},
		{"health", b.health, []string{"metrics"}},
		{"hashing", b.hashing, []string{"metrics"}},
		{"database", b.database, []string{"metrics", "traces"}},
		{"limits", b.limits, b.limitNeeds()},
		{"caches", b.caches, []string{"database"}},
		{"notifications", b.notifications, []string{"metrics"}},
		{"services", b.services, []string{"limits", "keys", "hashing", "caches", "notifications"}},
		{"api", b.api, []string{"services", "policy", "health", "credential keys"}},
	} {
		if slices.ContainsFunc(s.needs, func(n string) bool { return missing[n] }) {
			missing[s.name] = true
		} else if err := s.do(ctx); err != nil {
			missing[s.name] = true
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// blamed is an error with the option that is to blame.
type blamed struct {
	conf.Fault
	err error
}

// Unwrap gives the error alone.
func (f blamed) Unwrap() error { return f.err }

// blame says which option an error is about, and where it was set.
func (b *builder) blame(section, option string, err error) error {
	return blamed{b.cfg.Setting(section, option).Fault(err.Error()), err}
}

type builder struct {
	Options
	cfg     *conf.Config
	app     *App
	clients *clientaddr.Resolver
	tokens  tokens
	policy  *policy.Engine
	vault   *fernet.Vault
	checks  *health.Checks
	engine  db.Dialect
	stats   *ops.Metrics
	store   storeOptions
	// unwatched is App.DB, with writes that empty no cache.
	unwatched db.DB
}

func (b *builder) database(ctx context.Context) error {
	b.engine = db.DialectOf(b.cfg.Database.Connection)
	d, fresh := b.DB, b.Before == nil
	if d != nil {
		d = db.Watch(d, b.observe)
	} else {
		var err error
		d, err = held(b, "database", b.cfg.Database, func() (db.DB, error) {
			fresh = true
			if err := DatabaseFile(b.cfg.Database.Connection); err != nil {
				return nil, err
			}
			return openDB(ctx, b.cfg, b.observe, b.stats.Waited)
		}, db.DB.Close)
		if err != nil {
			return err
		}
	}
	b.app.DB = d
	if !fresh {
		return nil // looked at before; a database that is away now may come back
	}
	return migrations.Verify(ctx, d, b.cfg.KeystoneGo.AllowNewerSchema)
}

func (b *builder) observe(e db.Event) {
	b.stats.Queried(string(b.engine), len(e.Texts), e.Writes, e.Duration)
	b.traced(e)
	if b.Observe != nil {
		b.Observe(e)
	}
}

func (b *builder) hashing(context.Context) error {
	h, err := held(b, "hasher", hasherOptions(b.cfg), func() (*passhash.Hasher, error) { return newHasher(b.cfg, b.stats.Hashed) }, nil)
	b.app.Hasher = h
	return err
}

func (b *builder) services(context.Context) error {
	b.app.Users = NewUsers(b.cfg, b.app.DB, b.app.Hasher, b.Now)
	sec := b.cfg.SecurityCompliance
	b.app.guard = lockout.Guard{
		Policy: lockout.Policy{Attempts: sec.LockoutFailureAttempts, Duration: seconds(sec.LockoutDuration)},
		Now:    b.Now,
	}
	b.app.guesses = b.guesses()
	password := method.Password{
		DB: b.unwatched, Hasher: b.app.Hasher, Guesses: b.app.guesses, IdleDays: sec.DisableUserAccountDaysInactive, Now: b.Now,
		Guard: b.app.guard, Notify: b.app.Notify,
	}
	if slices.Contains(sec.ReportInvalidPasswordHash, "event") {
		most := 0
		if sec.InvalidPasswordHashMaxChars != nil {
			most = *sec.InvalidPasswordHashMaxChars
		}
		partial, err := notify.Partial(sec.InvalidPasswordHashSecretKey, sec.InvalidPasswordHashFunction, most)
		if err != nil {
			return b.blame("security_compliance", "report_invalid_password_hash", err)
		}
		password.Partial = partial
	}
	config := authConfig(b.cfg)
	config.Observer = b.stats
	b.app.Auth = auth.New(config, b.app.DB, b.tokens, password, b.app.Users.Revoker, b.Now)
	return nil
}

// NewUsers makes the service of users of a configuration.
func NewUsers(cfg *conf.Config, d db.DB, h *passhash.Hasher, now func() time.Time) identity.Users {
	sec := cfg.SecurityCompliance
	return identity.Users{
		DB: d, Hasher: h, Limit: listLimit(cfg.Identity.ListLimit, cfg.Default.ListLimit), IdleDays: sec.DisableUserAccountDaysInactive, Now: now, NewID: uuid.Hex,
		Rules: identity.PasswordRules{
			Regex: sec.PasswordRegex, RegexDescription: sec.PasswordRegexDescription,
			ExpiresDays: sec.PasswordExpiresDays, History: sec.UniqueLastPasswordCount,
			MinimumAgeDays: sec.MinimumPasswordAge, ChangeUponFirstUse: sec.ChangePasswordUponFirstUse,
		},
		Revoker: cascade.Revoker{Keep: seconds(cfg.Token.Expiration + cfg.Revoke.ExpirationBuffer), Now: now},
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func authConfig(cfg *conf.Config) auth.Config {
	return auth.Config{
		Methods:            cfg.Auth.Methods,
		PrimaryMethods:     cfg.Auth.AdditionalPrimaryAuthMethods,
		Expiration:         seconds(cfg.Token.Expiration),
		AllowExpiredWindow: seconds(cfg.Token.AllowExpiredWindow),
		RescopeScoped:      cfg.Token.AllowRescopeScopedToken,
		ReceiptExpiration:  seconds(cfg.Receipt.Expiration),
		StrictProjectNames: cfg.Resource.ProjectNameURLSafe == "strict",
		StrictDomainNames:  cfg.Resource.DomainNameURLSafe == "strict",
		AdminProject:       cfg.Resource.AdminProjectName,
		AdminProjectDomain: cfg.Resource.AdminProjectDomainName,
		AllEndpoints:       cfg.EndpointFilter.ReturnAllEndpointsIfNoFilter,
		PublicEndpoint:     cfg.Default.PublicEndpoint,
		Remember:           cfg.KeystoneGo.RememberReads,
		AdminToken:         cfg.Default.AdminToken,
		Provider:           cfg.Token.Provider,
		IdleDays:           cfg.SecurityCompliance.DisableUserAccountDaysInactive,
		MembershipMinutes:  cfg.Federation.DefaultAuthorizationTTL,
	}
}

func corsOf(c conf.CORS) v3.CORS {
	return v3.CORS{
		Origins: c.AllowedOrigin, Credentials: c.AllowCredentials, Expose: c.ExposeHeaders,
		MaxAge: c.MaxAge, Methods: c.AllowMethods, Headers: c.AllowHeaders,
	}
}

func (b *builder) policies(context.Context) error {
	engine, err := NewPolicy(b.cfg, b.Now, b.Log)
	if err != nil {
		return b.blame("oslo_policy", "policy_file", err)
	}
	b.policy = engine
	return nil
}

func (b *builder) api(ctx context.Context) error {
	b.app.Routes = v3.Table(b.resources())
	h, err := v3.New(v3.Config{
		Auth: b.app.Auth, Policy: b.policy, Limits: b.app.Limits, Limiting: limitingOf(b.cfg.RateLimit), Clients: b.clients, MaxList: b.cfg.Default.MaxDBLimit, Metrics: b.stats, Notify: b.app.Notify, Log: b.Log,
		PublicEndpoint: b.cfg.Default.PublicEndpoint, PathPrefix: b.cfg.KeystoneGo.PathPrefix,
		MaxBody:       int64(b.cfg.OsloMiddleware.MaxRequestBodySize),
		ParseProxy:    b.cfg.OsloMiddleware.EnableProxyHeadersParsing,
		ProxiesListed: len(b.cfg.RateLimitTrustedProxies.TrustedProxies) > 0,
		InsecureDebug: b.cfg.Default.InsecureDebug,
		CORS:          corsOf(b.cfg.CORS),
		Tracer:        b.app.Tracer,
		Now:           b.Now, Routes: b.app.Routes,
	})
	if err != nil {
		return err
	}
	b.app.Handler = h
	b.app.Warnings = append(b.app.Warnings, h.LimitWarnings()...)
	b.app.Warnings = append(b.app.Warnings, b.deepProjects(ctx)...)
	b.stats.Warned(len(b.app.Warnings))
	return nil
}
