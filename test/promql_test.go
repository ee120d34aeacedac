package test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// selector is a metric that an expression of PromQL asks for.
type selector struct {
	metric   string
	matchers []matcher
	within   []string // the functions around it, outermost first
}

// matcher is label op "value".
type matcher struct{ label, op, value string }

// query is what the tests need to know of an expression.
type query struct {
	selectors []selector
	grouped   []string // labels of by, on and their kin
}

var (
	promToken    = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9.]+[a-z]*|=~|!~|!=|==|[-+*/<>=(){},]`)
	promWords    = []string{"and", "or", "unless", "bool", "offset"}
	promGrouping = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
)

// parseQuery reads the part of PromQL that etc/ uses. It does not judge the
// rest: promtool does that.
func parseQuery(text string) (q query, err error) {
	tokens := promToken.FindAllString(text, -1)
	if left := strings.TrimSpace(promToken.ReplaceAllString(text, "")); strings.Trim(left, " \n") != "" {
		return q, fmt.Errorf("not understood: %q", left)
	}
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	var open []string
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		isWord := regexp.MustCompile(`^[a-zA-Z_:]`).MatchString(t)
		switch {
		case isWord && slices.Contains(promGrouping, t):
			for i += 2; at(i) != ")"; i++ {
				if at(i) == "" {
					return q, fmt.Errorf("a list without its end")
				}
				if at(i) != "," {
					q.grouped = append(q.grouped, at(i))
				}
			}
		case isWord && slices.Contains(promWords, t):
		case isWord && (at(i+1) == "(" || slices.Contains(promGrouping, at(i+1))):
			open = append(open, t)
		case isWord:
			s := selector{metric: t, within: slices.Clone(open)}
			if at(i+1) == "{" {
				for i += 2; at(i) != "}"; i++ {
					if at(i) == "," {
						continue
					}
					if at(i+2) == "" {
						return q, fmt.Errorf("a brace is not closed")
					}
					s.matchers = append(s.matchers, matcher{at(i), at(i + 1), strings.Trim(at(i+2), `"`)})
					i += 2
				}
			}
			q.selectors = append(q.selectors, s)
		case t == "(" && (i == 0 || !regexp.MustCompile(`^[a-zA-Z_:)]`).MatchString(tokens[i-1]) || slices.Contains(promWords, tokens[i-1])):
			open = append(open, "")
		case t == ")":
			if len(open) == 0 {
				return q, fmt.Errorf("a bracket too many")
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return q, fmt.Errorf("a bracket is not closed")
	}
	return q, nil
}

func TestParseQuery(t *testing.T) {
	q, err := parseQuery(`histogram_quantile(0.99, sum by (le, x) (rate(a_bucket{l=~"a|b",m!="c"}[5m]))) > 2 * (b - time()) and on (i) absent(c)`)
	if err != nil {
		t.Fatal(err)
	}
	want := query{
		selectors: []selector{
			{"a_bucket", []matcher{{"l", "=~", "a|b"}, {"m", "!=", "c"}}, []string{"histogram_quantile", "sum", "rate"}},
			{"b", nil, []string{""}},
			{"c", nil, []string{"absent"}},
		},
		grouped: []string{"le", "x", "i"},
	}
	if fmt.Sprint(q) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", q, want)
	}
	for _, bad := range []string{"sum(a", "a)", `a{b="c"`, "a by (b", "a $ b"} {
		if _, err := parseQuery(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
