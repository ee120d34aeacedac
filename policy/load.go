package policy

import (
	"errors"
	"slices"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// load makes a new set of rules when the files are not the ones seen last.
func (e *Engine) load() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	stamps, err := e.look()
	if err != nil {
		return err
	}
	loaded := e.set.Load() != nil
	if loaded && slices.Equal(stamps, e.seen) {
		return nil
	}
	hasFile := len(stamps) > 0 && stamps[0].main
	if e.hadFile && !hasFile {
		return errors.New("the policy file is gone")
	}
	overrides := map[string]override{}
	for _, s := range stamps {
		if err := readOverrides(s.path, overrides); err != nil {
			return err
		}
	}
	set := e.assemble(overrides)
	e.report(overrides, set)
	e.set.Store(set)
	e.seen, e.hadFile, e.lastErr = stamps, hasFile, ""
	if loaded {
		e.cfg.Log.Info("policy files read again", "files", len(stamps), "overrides", len(overrides))
	}
	return nil
}

// override is one rule of a file.
type override struct {
	check rules.Check
	fault error // why it is read as a refusal
}

// assemble puts the overrides over the defaults.
func (e *Engine) assemble(overrides map[string]override) *rules.Set {
	set := &rules.Set{Rules: make(map[string]rules.Check, len(e.registered)), Default: e.cfg.DefaultRule, Remote: e.remote}
	for name, rule := range e.registered {
		set.Rules[name] = e.effective(rule, overrides)
	}
	for name, o := range overrides {
		set.Rules[name] = o.check
	}
	return set
}

// effective is what a default comes to: a file that overrides the old name of a
// renamed rule with something else than its old default means the new name;
// else the deprecated form is an alternative while new defaults are not
// enforced. A file that has the rule's own name replaces all this.
func (e *Engine) effective(rule Rule, overrides map[string]override) rules.Check {
	check := mustParse(rule.Check)
	old := rule.Deprecated
	if old == nil {
		return check
	}
	before := mustParse(old.Check)
	if old.Name != "" && old.Name != rule.Name {
		o, ok := overrides[old.Name]
		text := o.check.String()
		if ok && text != before.String() && text != "rule:"+rule.Name {
			return o.check
		}
	}
	if e.cfg.EnforceNewDefaults || old.Check == rule.Check {
		return check
	}
	return rules.Or(check, before)
}

// mustParse compiles a default; that each of them is well formed is tested.
func mustParse(text string) rules.Check {
	check, _ := rules.Parse(text)
	return check
}

// report logs what in the files deserves an operator's look.
func (e *Engine) report(overrides map[string]override, set *rules.Set) {
	for name, o := range overrides {
		if o.fault != nil {
			e.cfg.Log.Warn("policy override refuses everybody", "rule", name, "error", o.fault)
		}
	}
	for _, problem := range set.Problems() {
		e.cfg.Log.Warn("policy rules do not fit together", "problem", problem)
	}
}
