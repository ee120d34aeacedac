package auth_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/assignment"
	"github.com/keystone-go/keystone-go/auth"
	"github.com/keystone-go/keystone-go/auth/guess"
	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/auth/token"
	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/cascade"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/lockout"
	"github.com/keystone-go/keystone-go/resource"
)

// noon is when the tests begin.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)

// Domains whose ids a token of every kind can hold.
const (
	far = "fa000000000000000000000000000001" // "Far", enabled
	off = "0ff00000000000000000000000000001" // "Off", disabled
)

// hasher is a hash whose work can be counted; what is longer than max bytes it
// refuses.
type hasher struct {
	verified, dummies atomic.Int64
	max               int
	fail              error
	during            func() // called while a password is compared
}

func (h *hasher) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (h *hasher) Verify(_ context.Context, stored, password string) (bool, error) {
	h.verified.Add(1)
	if h.during != nil {
		h.during()
	}
	return stored == "plain:"+password, h.fail
}

func (h *hasher) Dummy(context.Context, string) error {
	h.dummies.Add(1)
	return h.fail
}

func (h *hasher) CheckLength(password string) error {
	if h.max > 0 && len(password) > h.max {
		return fault.New(fault.Forbidden, "too long")
	}
	return nil
}

// world is what a test may set before the service is made.
type world struct {
	auth.Config
	attempts *int
	duration time.Duration
	guesses  *guess.Guard
	hasher   interface { // nil: a hasher
		method.Hasher
		Hash(ctx context.Context, password string) (string, error)
	}
}

// stand is a cloud:
//
//	domains   default, far, off (disabled)
//	projects  p1 > p1child, p2, poff (disabled) in default; pfar in far; pinoff in off
//	users     ana, ben, cyd (disabled) in default; fay in far; oli in off; each with
//	          his name as password
//	roles     admin > member > reader
//	grants    ana: member on p1, reader on p2, far and the system
type stand struct {
	*testing.T
	world
	db     *dbtest.Counter
	auth   *auth.Service
	users  identity.Users
	hash   *hasher
	tokens *token.Fernet
	clock  time.Time
	ids    map[string]string // of the users
}

func each(t *testing.T, w world, f func(s *stand)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d db.DB) { f(newStand(t, d, w)) })
}

// eachWay is each with [keystone_go] remember_reads off and on: no answer may
// differ.
func eachWay(t *testing.T, w world, f func(s *stand)) {
	t.Helper()
	for name, on := range map[string]bool{"read": false, "remembered": true} {
		t.Run(name, func(t *testing.T) {
			w.Remember = on
			each(t, w, f)
		})
	}
}

func newStand(t *testing.T, d db.DB, w world) *stand {
	t.Helper()
	s := &stand{T: t, world: w, db: dbtest.Count(t, d), hash: &hasher{}, clock: noon, ids: map[string]string{}}
	if s.Methods == nil {
		s.Methods = []string{"external", "password", "token", "totp"}
	}
	s.Expiration, s.AllowExpiredWindow, s.ReceiptExpiration = time.Hour, 48*time.Hour, 5*time.Minute
	s.AllEndpoints = true
	if s.hasher == nil {
		s.hasher = s.hash
	}
	now := func() time.Time { return s.clock }
	dir := filepath.Join(t.TempDir(), "keys")
	s.must(fernet.Setup(dir, fernet.Owner{UID: -1, GID: -1}))
	keys, err := fernet.Open(dir, now)
	s.must(err)
	s.tokens = token.NewFernet(keys, s.Methods, "default")
	revoker := cascade.Revoker{Keep: 90 * time.Minute, Now: now}
	s.users = identity.Users{DB: d, Hasher: s.hasher, Revoker: revoker, Now: now, NewID: func() string {
		return fmt.Sprintf("%032x", len(s.ids)+1)
	}}
	s.auth = auth.New(s.Config, s.db, s.tokens, method.Password{
		DB: s.db, Hasher: s.hasher, Guesses: s.guesses, IdleDays: s.IdleDays, Now: now,
		Guard: lockout.Guard{Policy: lockout.Policy{Attempts: s.attempts, Duration: s.duration}, Now: now},
	}, revoker, now)
	s.populate()
	s.quiet()
	return s
}

func (s *stand) populate() {
	s.Helper()
	c := s.Context()
	for _, d := range []resource.Domain{{ID: "default", Name: "Default", Enabled: true}, {ID: far, Name: "Far", Enabled: true}, {ID: off, Name: "Off"}} {
		s.must(resource.CreateDomain(c, s.db, d))
	}
	for _, p := range []resource.Project{
		{ID: "p1", DomainID: "default", Enabled: true},
		{ID: "p1child", DomainID: "default", ParentID: "p1", Enabled: true},
		{ID: "p2", DomainID: "default", Enabled: true},
		{ID: "poff", DomainID: "default"},
		{ID: "pfar", DomainID: far, Enabled: true},
		{ID: "pinoff", DomainID: off, Enabled: true},
	} {
		p.Name = p.ID
		s.must(resource.CreateProject(c, s.db, p))
	}
	for _, u := range []string{"ana default", "ben default", "cyd default", "fay " + far, "oli " + off} {
		name, domainID, _ := strings.Cut(u, " ")
		v, err := s.users.Create(c, domainID, identity.Change{Name: &name, Password: ptr(&name), Enabled: ptr(name != "cyd")})
		s.must(err)
		s.ids[name] = v.Account.ID
	}
	for _, name := range []string{"reader", "member", "admin"} {
		s.must(assignment.CreateRole(c, s.db, assignment.Role{ID: "r-" + name, Name: name}, false))
	}
	s.must(assignment.Imply(c, s.db, "r-admin", "r-member"))
	s.must(assignment.Imply(c, s.db, "r-member", "r-reader"))
	s.grant("ana", "project p1", "member")
	s.grant("ana", "project p2", "reader")
	s.grant("ana", "domain "+far, "reader")
	s.grant("ana", "system", "reader")
}

func (s *stand) grant(user, target, role string) {
	s.Helper()
	kind, id, _ := strings.Cut(target, " ")
	actor := assignment.Actor{ID: s.ids[user]}
	switch kind {
	case "project":
		s.must(assignment.GrantOnProject(s.Context(), s.db, actor, id, "r-"+role, false))
	case "domain":
		s.must(assignment.GrantOnDomain(s.Context(), s.db, actor, id, "r-"+role, false))
	default:
		s.must(assignment.GrantOnSystem(s.Context(), s.db, actor, "r-"+role))
	}
}

// quiet puts all counts to zero.
func (s *stand) quiet() {
	s.db.Reset()
	s.hash.verified.Store(0)
	s.hash.dummies.Store(0)
}

func (s *stand) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stand) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), text, args...); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// update changes a user by name.
func (s *stand) update(name string, ch identity.Change) {
	s.Helper()
	v, err := s.users.Get(s.Context(), s.ids[name])
	s.must(err)
	_, err = s.users.Update(s.Context(), v, ch)
	s.must(err)
}

func (s *stand) option(name, id, value string) {
	s.Helper()
	s.update(name, identity.Change{Options: map[string]*string{id: &value}})
}

// Scopes of a login, as JSON.
const (
	unscoped = `"unscoped"`
	onP1     = `{"project": {"id": "p1"}}`
	onP2     = `{"project": {"id": "p2"}}`
	onFar    = `{"domain": {"id": "` + far + `"}}`
	onSystem = `{"system": {"all": true}}`
)

// parse reads what stands under "auth".
func (s *stand) parse(text string) auth.Request {
	s.Helper()
	body, err := pyjson.DecodeObject([]byte(`{"auth": ` + text + `}`))
	s.must(err)
	r, err := s.auth.ParseRequest(body)
	s.must(err)
	r.Catalog = true
	return r
}

// byPassword is a login of a user, with a scope unless that is empty.
func byPassword(id, password, scope string) string {
	return login(fmt.Sprintf(`"methods": ["password"], "password": {"user": {"id": %q, "password": %q}}`, id, password), scope)
}

func byToken(id, scope string) string {
	return login(fmt.Sprintf(`"methods": ["token"], "token": {"id": %q}`, id), scope)
}

func login(identity, scope string) string {
	if scope != "" {
		scope = `, "scope": ` + scope
	}
	return `{"identity": {` + identity + `}` + scope + `}`
}

func (s *stand) try(text string) (*auth.Identity, error) {
	s.Helper()
	return s.auth.Authenticate(s.Context(), s.parse(text))
}

// token logs a user in who has his name as password.
func (s *stand) token(name, scope string) *auth.Identity {
	s.Helper()
	id, err := s.try(byPassword(s.ids[name], name, scope))
	if err != nil {
		s.Fatalf("login of %s for %s: %v", name, scope, err)
	}
	return id
}

// forge seals a token that no login gave.
func (s *stand) forge(t token.Token) string {
	s.Helper()
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = s.clock.Add(time.Hour)
	}
	if t.Methods == nil {
		t.Methods = []string{"password"}
	}
	if t.AuditIDs == nil {
		t.AuditIDs = []string{token.NewAuditID()}
	}
	text, err := s.tokens.Issue(&t)
	s.must(err)
	return text
}

// subject validates a token that a service asks about.
func (s *stand) subject(id string) (*auth.Identity, error) {
	s.Helper()
	r, err := s.auth.Validate(s.Context(), auth.Check{Subject: id})
	s.must(err)
	return r.Subject, r.SubjectErr
}

func ptr[T any](v T) *T { return &v }

// message gives kind and public text of a fault.
func message(err error) string {
	if err == nil {
		return ""
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return "no fault: " + err.Error()
	}
	return fmt.Sprintf("%d %s", f.Kind, f.Message)
}

const bare = "401 The request you have made requires authentication."
