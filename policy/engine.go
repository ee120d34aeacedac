package policy

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/rules"
)

// lookEvery is how often the files are looked at under load.
const lookEvery = time.Second

// Config is [oslo_policy].
type Config struct {
	PolicyFile         string // YAML or JSON; a relative name is searched for, and may be missing
	PolicyDirs         []string
	DefaultRule        string // stands in for rules that rule:NAME does not find
	EnforceNewDefaults bool   // false lets the deprecated form of a rule allow too
	Remote             rules.RemoteConfig
	// Now is asked when the files are due for a look, once a second at most;
	// without it they are looked at for each decision.
	Now func() time.Time
	Log *slog.Logger // slog.Default when nil
}

// Engine enforces the rules. It is safe for concurrent use.
type Engine struct {
	cfg        Config
	dirs       []string // where relative names are searched
	registered map[string]Rule
	remote     *rules.Remote
	set        atomic.Pointer[rules.Set]

	started time.Time
	due     atomic.Int64 // next look at the files, in nanoseconds from started
	mu      sync.Mutex   // one look at a time; guards what is below
	seen    []stamp      // the files that set was made of
	hadFile bool
	lastErr string // logged already
}

// New reads the files and makes an engine. configDirs is where a relative
// policy_file and policy_dirs are searched, best first. An error is a file that
// is there and cannot be read or understood.
func New(cfg Config, configDirs []string) (*Engine, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	e := &Engine{cfg: cfg, dirs: configDirs, registered: map[string]Rule{}, remote: rules.NewRemote(cfg.Remote)}
	for _, rule := range slices.Concat(Defaults, Own) {
		e.registered[rule.Name] = rule
	}
	if cfg.Now != nil {
		e.started = cfg.Now()
	}
	if err := e.load(); err != nil {
		return nil, err
	}
	return e, nil
}

// Enforce returns nil when the caller may do what the rule guards, and else the
// 403 that names the rule. A name that is not registered is refused.
func (e *Engine) Enforce(ctx context.Context, rule string, creds Credentials, target Target) error {
	if admin, ok := creds[AdminToken]; ok {
		if admin == true {
			return nil
		}
		creds = maps.Clone(creds)
		delete(creds, AdminToken)
	}
	e.refresh()
	registered, ok := e.registered[rule]
	if !ok || !registered.inScope(creds) {
		return fault.ForbiddenAction(rule)
	}
	allowed, err := e.set.Load().Allowed(ctx, rule, creds, target)
	if err != nil && ctx.Err() == nil {
		e.cfg.Log.WarnContext(ctx, "policy decision refused", "rule", rule, "error", err)
	}
	if !allowed {
		return fault.ForbiddenAction(rule)
	}
	return nil
}

func (r Rule) inScope(creds Credentials) bool {
	return len(r.ScopeTypes) == 0 || slices.Contains(r.ScopeTypes, creds.scope())
}

// Always reports whether the rule allows everybody at present, as an empty
// override does. Trusts are then guarded by a check of their own.
func (e *Engine) Always(rule string) bool {
	e.refresh()
	c, ok := e.set.Load().Rules[rule]
	return ok && c.Always()
}

// Default reports whether a rule, and each that it refers to, is at present what
// Keystone has for it: what is known of the default then holds.
func (e *Engine) Default(rule string) bool {
	e.refresh()
	set := e.set.Load()
	for i, names := 0, []string{rule}; i < len(names); i++ {
		registered, known := e.registered[names[i]]
		check := set.Rules[names[i]]
		if !known || check.String() != e.effective(registered, nil).String() {
			return false
		}
		for _, ref := range check.Refers() {
			if !slices.Contains(names, ref) {
				names = append(names, ref)
			}
		}
	}
	return true
}

// refresh looks at the files when that is due, in one caller alone.
func (e *Engine) refresh() {
	if e.cfg.Now != nil {
		now := int64(e.cfg.Now().Sub(e.started))
		due := e.due.Load()
		if now < due || !e.due.CompareAndSwap(due, now+int64(lookEvery)) {
			return
		}
	}
	if err := e.load(); err != nil {
		e.complain(err)
	}
}

// complain logs a failing reload once, not at each look.
func (e *Engine) complain(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err.Error() != e.lastErr {
		e.lastErr = err.Error()
		e.cfg.Log.Error("policy files not taken, the last good rules stay", "error", err)
	}
}
