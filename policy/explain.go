package policy

import (
	"context"
	"maps"
	"slices"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// Explanation is a decision and what led to it.
type Explanation struct {
	Rule       string // as it is in force
	Known      bool   // a rule that is not registered refuses everybody
	Scope      string // of the credentials: system, domain or project
	ScopeTypes []string
	InScope    bool
	Steps      []rules.Step
	Allowed    bool
	Err        error // why no decision could be made, which refuses
}

// Explain decides as Enforce does, and tells how.
func (e *Engine) Explain(ctx context.Context, rule string, creds Credentials, target Target) Explanation {
	e.refresh()
	set := e.set.Load()
	registered, ok := e.registered[rule]
	x := Explanation{Rule: set.Rules[rule].String(), Known: ok, Scope: creds.scope(), ScopeTypes: registered.ScopeTypes, InScope: registered.inScope(creds)}
	if !x.Known || !x.InScope {
		return x
	}
	x.Allowed, x.Steps, x.Err = set.Explain(ctx, rule, creds, target)
	return x
}

// Effective is a rule as it is in force.
type Effective struct {
	Name, Check string
	Changed     bool // by a file, or by enforce_new_defaults = false
}

// Effective lists the rules in force, those of the files that no call asks for
// among them, by name.
func (e *Engine) Effective() []Effective {
	e.refresh()
	var list []Effective
	set := e.set.Load()
	for _, name := range slices.Sorted(maps.Keys(set.Rules)) {
		check := set.Rules[name].String()
		rule, known := e.registered[name]
		list = append(list, Effective{name, check, !known || check != mustParse(rule.Check).String()})
	}
	return list
}
