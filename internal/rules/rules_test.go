package rules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/rules"
)

// lazy is a token body that is worked out when asked.
type lazy map[string]any

func (l lazy) Field(name string) (any, bool) {
	v, ok := l[name]
	return v, ok
}

func TestValues(t *testing.T) {
	type name string
	for _, c := range []struct {
		rule string
		cred any // under "v"
		want string
	}{
		{"v:x", "x", "True"},
		{"v:x", name("x"), "True"},
		{"v:['x']", []any{[]name{"x"}}, "True"},
		{"v.a:x", lazy{"a": "x"}, "True"},
		{"v.b:x", lazy{"a": "x"}, "False"},
		{"v.a:x", map[string]string{"a": "x"}, "True"},
		{"v.b:x", map[string]string{"a": "x"}, "False"},
		{"v.a:x", []map[string]any{{"a": "y"}, {"a": "x"}}, "True"},
		{"v.a:x", []lazy{{"a": "x"}}, "True"},
		{"v.a:None", map[string]any{"a": nil}, "True"},
		{"v.a:x", nil, "EXC"},
		{"v.a:x", "text", "EXC"},
		{"v.a:x", []any{[]any{map[string]any{"a": "x"}}}, "EXC"}, // lists in lists are not entered
		{"v:['x']", []any{[]any{"x"}}, "True"},
		{"v:None", (*int)(nil), "True"},
		{"v:7", new(7), "True"},
		{"v:5", json.Number("5"), "True"},
		{"v:0", json.Number("-0"), "True"},
		{"v:5.0", json.Number("5.0"), "True"},
		{"v:500.0", json.Number("5e2"), "True"},
		{"v:inf", json.Number("1e999"), "True"},
		{"v:5.0", 5.0, "True"},
		{"v:5", int64(5), "True"},
		{"v:5", uint8(5), "True"},
		{"v:1.5", float32(1.5), "True"},
		{"v:1e+16", 1e16, "True"},
		{"v:-0.0001", -0.0001, "True"},
		{"v:['a',", []any{"a", "b"}, "False"},
		{"v:{'a':['x'],'b':None}", map[string]any{"a": "x"}, "False"},
		{"v:{'a':True}", []map[string]any{{"a": true}}, "False"}, // Python puts a blank after the colon
	} {
		s := newSet(map[string]string{"asked": c.rule})
		ok, err := s.Allowed(t.Context(), "asked", map[string]any{"v": c.cred}, nil)
		got := map[bool]string{true: "True", false: "False"}[ok]
		if err != nil {
			got = "EXC"
		}
		if got != c.want {
			t.Errorf("%s with v = %#v: got %s (%v), want %s", c.rule, c.cred, got, err, c.want)
		}
	}
}

// Roles compare as Python's lower does, not as Unicode folding does.
func TestRoleNames(t *testing.T) {
	for _, c := range []struct {
		role, rule string
		want       bool
	}{
		{"Service", "role:service", true},
		{"SERVICE", "role:%(role)s", true},
		{"ſervice", "role:service", false},
		{"servİce", "role:service", false},
		{"ÄDMIN", "role:ädmin", true},
		{"ΟΔΟΣ", "role:οδος", true},
		{"admin ", "role:admin", false},
	} {
		s := newSet(map[string]string{"asked": c.rule})
		for _, roles := range []any{[]string{"other", c.role}, []any{"other", c.role}} {
			got, err := s.Allowed(t.Context(), "asked", map[string]any{"roles": roles}, map[string]any{"role": "service"})
			if got != c.want || err != nil {
				t.Errorf("%s of %v: got %v, %v; want %v", c.rule, roles, got, err, c.want)
			}
		}
	}
	for _, roles := range []any{nil, "admin", []any{"admin", 5}, map[string]any{"admin": true}} {
		s := newSet(map[string]string{"asked": "role:admin"})
		if got, err := s.Allowed(t.Context(), "asked", map[string]any{"roles": roles}, nil); got || err == nil {
			t.Errorf("role:admin of %v: got %v, %v; want a refusal with a reason", roles, got, err)
		}
	}
}

func TestDefaultRule(t *testing.T) {
	s := newSet(map[string]string{"default": "role:admin", "asked": "rule:nowhere"})
	for _, c := range []struct {
		byDefault string
		want      bool
	}{{"", false}, {"default", true}, {"absent", false}} {
		s.Default = c.byDefault
		if got, err := s.Allowed(t.Context(), "asked", creds, target); got != c.want || err != nil {
			t.Errorf("default rule %q: got %v, %v; want %v", c.byDefault, got, err, c.want)
		}
	}
}

// Rules that double at each step would take 2^60 checks.
func TestWorkIsBounded(t *testing.T) {
	texts := map[string]string{"r60": "role:nobody"}
	for i := range 60 {
		texts[fmt.Sprint("r", i)] = fmt.Sprintf("rule:r%d or rule:r%d", i+1, i+1)
	}
	start := time.Now()
	ok, err := newSet(texts).Allowed(t.Context(), "r0", creds, target)
	if ok || !errors.Is(err, rules.ErrEndless) {
		t.Errorf("got %v, %v; want ErrEndless", ok, err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestDeepRules(t *testing.T) {
	for _, c := range []struct {
		text string
		good bool
	}{
		{strings.Repeat("(", 100) + "@" + strings.Repeat(")", 100), true},
		{strings.Repeat("not ", 100) + "@", true},
		{strings.Repeat("(", 100_000) + "@" + strings.Repeat(")", 100_000), false},
		{strings.Repeat("not ", 100_000) + "@", false},
		{strings.Repeat("[", 100_000) + ":x", false},
		{strings.Repeat("-", 100_000) + "5:x", false},
		{strings.Repeat("@ and ", 10_000) + "@", true},
	} {
		s := newSet(map[string]string{"asked": c.text})
		if ok, _ := s.Allowed(t.Context(), "asked", creds, target); ok != c.good {
			t.Errorf("%.20s... of %d characters: got %v, want %v", c.text, len(c.text), ok, c.good)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"role:a role:b": `"role:b" is one too many`,
		"role:a and":    "a check is missing at the end",
		"(role:a":       "a parenthesis is not closed",
		`"role:a"`:      `"\"role:a\"" stands where a check should`,
	} {
		c, err := rules.Parse(text)
		if c.String() != "!" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got %s, %v; want a refusal and %q", text, c, err, want)
		}
	}
}

func TestParseListRefusesOtherValues(t *testing.T) {
	for _, list := range [][]any{{5}, {[]any{5}}, {true}, {[]any{[]any{"@"}}}, {map[string]any{"a": "@"}}} {
		if c, err := rules.ParseList(list); err == nil || c.String() != "!" {
			t.Errorf("ParseList(%v): got %s, %v; want a refusal and an error", list, c, err)
		}
	}
}

func TestZeroCheckRefuses(t *testing.T) {
	s := &rules.Set{Rules: map[string]rules.Check{"zero": {}, "ref": {}}}
	s.Rules["ref"], _ = rules.Parse("rule:zero or !")
	s.Rules["or"] = rules.Or(rules.Check{}, rules.Check{})
	for name := range s.Rules {
		if ok, err := s.Allowed(t.Context(), name, creds, target); ok || err != nil {
			t.Errorf("%s: got %v, %v; want a refusal", name, ok, err)
		}
	}
}

func TestProblems(t *testing.T) {
	s := newSet(map[string]string{
		"a": "rule:b or role:x", "b": "not rule:a", "c": "rule:a", "d": "rule:gone", "fine": "rule:end", "end": "@",
	})
	want := []string{
		"rule a refers to itself, by others or directly",
		"rule b refers to itself, by others or directly",
		"rule d refers to gone, which is not there",
	}
	if d := cmp.Diff(want, s.Problems()); d != "" {
		t.Errorf("Problems (-want +got):\n%s", d)
	}
	s.Default = "d"
	if got := s.Problems(); !slices.Contains(got, "rule d refers to itself, by others or directly") {
		t.Errorf("with a default rule that needs the default rule: %q", got)
	}
}

func BenchmarkAllowed(b *testing.B) {
	s := newSet(map[string]string{
		"admin_required": "role:admin or is_admin:1",
		"asked":          "(rule:admin_required) or (role:reader and system_scope:all) or (role:reader and token.domain.id:%(target.user.domain_id)s) or user_id:%(target.user.id)s",
	})
	creds := map[string]any{"user_id": "u1", "roles": []string{"member", "reader"}, "domain_id": nil, "token": lazy{}}
	target := map[string]any{"target.user.id": "u1", "target.user.domain_id": "d1"}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := s.Allowed(b.Context(), "asked", creds, target); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
