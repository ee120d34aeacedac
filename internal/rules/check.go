package rules

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// compile reads one check, "kind:match".
func compile(text string) Check {
	switch text {
	case "@":
		return always
	case "!":
		return never
	}
	kind, match, ok := strings.Cut(text, ":")
	if !ok {
		return never
	}
	c := Check{text: text}
	switch kind {
	case "rule":
		c.eval, c.refs = ruleCheck(match), []string{match}
	case "role":
		c.eval = roleCheck(match)
	case "http", "https":
		c.eval = remoteCheck(text)
	default:
		c.eval = genericCheck(kind, match)
	}
	c.eval = traced(text, c.eval)
	return c
}

func ruleCheck(name string) func(*run) verdict {
	return func(r *run) verdict {
		c, ok := r.set.Lookup(name)
		if !ok || c.eval == nil {
			return no
		}
		if !r.step() || r.depth >= maxNesting {
			return r.fail(ErrEndless)
		}
		r.depth++
		v := c.eval(r)
		r.depth--
		return v
	}
}

var errRoles = errors.New("the roles of the credentials are not a list of names")

func roleCheck(match string) func(*run) verdict {
	want := newTemplate(match)
	constant, fixed := want.constant()
	constant = lower(constant)
	return func(r *run) verdict {
		if !r.step() {
			return r.fail(ErrEndless)
		}
		role := constant
		if !fixed {
			text, v := want.fill(r)
			if v != yes {
				return v
			}
			role = lower(text)
		}
		roles, ok := r.creds["roles"]
		if !ok {
			return no
		}
		return r.hasRole(roles, role)
	}
}

func (r *run) hasRole(roles any, role string) verdict {
	switch list := roles.(type) {
	case []string:
		for _, name := range list {
			if lower(name) == role {
				return yes
			}
		}
		return no
	case []any:
		found := no
		for _, item := range list {
			name, ok := item.(string)
			if !ok {
				return r.fail(errRoles)
			}
			if lower(name) == role {
				found = yes
			}
		}
		return found
	default:
		return r.fail(errRoles)
	}
}

// lower is Python's str.lower. Role names differ by more than Go's folding
// keeps apart: strings.EqualFold takes "ſervice" for "service", and
// strings.ToLower makes "İ" an "i".
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Lower(language.Und).String(s)
		}
	}
	return strings.ToLower(s)
}

// genericCheck compares a literal, or a value found in the credentials, with
// the filled right side, both as Python's str writes them: None is "None", so
// an absent domain equals an absent domain, and rules must guard against it.
func genericCheck(left, right string) func(*run) verdict {
	want := newTemplate(right)
	text, form := readLiteral(left)
	if form == unreadable {
		err := fmt.Errorf("%q on the left of a check is neither a literal nor a path", left)
		return func(r *run) verdict {
			// The right side is filled first, and its missing keys decide.
			if _, v := want.fill(r); v != yes {
				return v
			}
			return r.fail(err)
		}
	}
	path := strings.Split(left, ".")
	return func(r *run) verdict {
		if !r.step() {
			return r.fail(ErrEndless)
		}
		match, v := want.fill(r)
		if v != yes {
			return v
		}
		if form == literal {
			return verdictOf(match == text)
		}
		return r.find(path, match)
	}
}
