// Package rules is the policy language of oslo.policy: it compiles the text of
// a rule to a closure and evaluates it against credentials and a target.
//
// What raises an exception in Python (a stray %, a keyword on the left of a
// check, a policy server that does not answer) makes the whole decision a
// refusal here, with an error that says why: never a panic, and never the true
// that `not` would make of a plain false.
package rules

import (
	"context"
	"errors"
	"fmt"
)

// Limits of one decision. Python stops at its recursion limit or runs on; these
// are far above what any rule file needs.
const (
	maxSteps   = 100_000 // single checks looked at
	maxNesting = 200     // parentheses, "not"s and rule: references inside one another
)

// ErrEndless refuses a decision whose rules refer to one another in a circle,
// or that needs more work than any real rule.
var ErrEndless = errors.New("the rules go in a circle or too deep")

type verdict uint8

const (
	no verdict = iota
	yes
	broken // run.err says why; ends the decision
)

func verdictOf(ok bool) verdict {
	if ok {
		return yes
	}
	return no
}

// Check is a compiled rule. The zero value refuses everything.
type Check struct {
	eval func(*run) verdict
	text string
	refs []string
}

// String gives the rule in one canonical form, with "@" for true and "!" for
// false.
func (c Check) String() string {
	if c.eval == nil {
		return "!"
	}
	return c.text
}

// Always reports whether the rule is the empty one, which allows everybody.
func (c Check) Always() bool { return c.String() == "@" }

// Refers lists the names that the rule reaches by rule:NAME, in the order of
// the text, not followed further.
func (c Check) Refers() []string { return c.refs }

// Or makes a rule that allows what any of the checks allows.
func Or(checks ...Check) Check { return join(" or ", yes, checks) }

// And makes a rule that allows what all the checks allow.
func And(checks ...Check) Check { return join(" and ", no, checks) }

// Set is a collection of rules that may refer to one another. It must not be
// changed while decisions are made with it.
type Set struct {
	Rules map[string]Check
	// Default names the rule that stands in for missing ones; "" for none.
	Default string
	// Remote answers http: and https: checks; without it they refuse.
	Remote *Remote
}

// Lookup finds a rule, or the default one where that exists.
func (s *Set) Lookup(name string) (Check, bool) {
	c, ok := s.Rules[name]
	if !ok && s.Default != "" {
		c, ok = s.Rules[s.Default]
	}
	return c, ok
}

// Allowed decides by the named rule. Credentials are maps, lists and plain
// values, target is flat with dotted keys. An error comes with false only and
// says why the decision could not be made.
func (s *Set) Allowed(ctx context.Context, rule string, creds, target map[string]any) (bool, error) {
	return s.decide(&run{ctx: ctx, set: s, rule: rule, creds: creds, target: target})
}

func (s *Set) decide(r *run) (bool, error) {
	c, ok := s.Lookup(r.rule)
	if !ok || c.eval == nil {
		return false, nil
	}
	switch c.eval(r) {
	case yes:
		return true, nil
	case broken:
		return false, fmt.Errorf("evaluate policy rule %s: %w", r.rule, r.err)
	default:
		return false, nil
	}
}

// run is the state of one decision.
type run struct {
	ctx           context.Context
	set           *Set
	rule          string
	creds, target map[string]any
	steps, depth  int
	trace         *[]Step // nil: nobody wants to know
	err           error
}

func (r *run) fail(err error) verdict {
	r.err = err
	return broken
}

// step counts one check and reports whether the decision may go on.
func (r *run) step() bool {
	r.steps++
	return r.steps <= maxSteps
}

func join(word string, decisive verdict, checks []Check) Check {
	if len(checks) == 1 {
		return checks[0]
	}
	evals := make([]func(*run) verdict, 0, len(checks))
	text := "("
	var refs []string
	for i, c := range checks {
		if c.eval == nil {
			c = never
		}
		if i > 0 {
			text += word
		}
		text += c.text
		evals = append(evals, c.eval)
		refs = append(refs, c.refs...)
	}
	return Check{text: text + ")", refs: refs, eval: func(r *run) verdict {
		for _, eval := range evals {
			if v := eval(r); v == decisive || v == broken {
				return v
			}
		}
		return yes - decisive
	}}
}

func negate(c Check) Check {
	return Check{text: "not " + c.text, refs: c.refs, eval: func(r *run) verdict {
		switch c.eval(r) {
		case yes:
			return no
		case no:
			return yes
		default:
			return broken
		}
	}}
}

var (
	always = Check{text: "@", eval: func(*run) verdict { return yes }}
	never  = Check{text: "!", eval: func(*run) verdict { return no }}
)
