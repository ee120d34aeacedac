package rules

import "context"

// Step is a check that a decision looked at.
type Step struct {
	Depth   int // of rule: references around it
	Text    string
	Allowed bool
}

// Explain is Allowed, and tells the checks that were looked at, in their order:
// those that a rule: reference led to follow it. What one side of an "and" or
// "or" has decided already is not looked at, and not told.
func (s *Set) Explain(ctx context.Context, rule string, creds, target map[string]any) (bool, []Step, error) {
	var steps []Step
	ok, err := s.decide(&run{ctx: ctx, set: s, rule: rule, creds: creds, target: target, trace: &steps})
	return ok, steps, err
}

func traced(text string, eval func(*run) verdict) func(*run) verdict {
	return func(r *run) verdict {
		if r.trace == nil {
			return eval(r)
		}
		at := len(*r.trace)
		*r.trace = append(*r.trace, Step{Depth: r.depth, Text: text})
		v := eval(r)
		(*r.trace)[at].Allowed = v == yes
		return v
	}
}
