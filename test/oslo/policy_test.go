//go:build interop

package oslo_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/rules"
)

const (
	worlds    = 250 // credentials, a target and named rules
	decisions = 100_000
)

// world is what decisions are made in, and the rules that are asked for there.
type world struct {
	Rules   map[string]any `json:"rules"`
	Default *string        `json:"default"`
	Creds   map[string]any `json:"creds"`
	Target  map[string]any `json:"target"`
	Asked   []any          `json:"asked"`
}

// decided is what the real oslo.policy makes of a world: T, F, or E for an
// exception, and the rules as it writes them.
type decided struct {
	Answers []string  `json:"answers"`
	Texts   []*string `json:"texts"`
}

// TestEqualToOsloPolicy has both decide by generated rules, whole and broken,
// over generated credentials and targets.
func TestEqualToOsloPolicy(t *testing.T) {
	g := &policyGenerator{r: rand.New(rand.NewPCG(seed, 1))}
	list := make([]world, worlds)
	for i := range list {
		list[i] = g.world(decisions / worlds)
	}
	cmd := keystone(t)
	cmd.Args[1] = "policy.py"
	count := map[string]int{}
	for i, python := range converse[world, decided](t, cmd, list) {
		w := ours(t, list[i])
		for j, rule := range w.Asked {
			text, answer := w.decide(t, rule)
			count[python.Answers[j]]++
			want := ""
			if python.Texts[j] != nil {
				want = *python.Texts[j]
			}
			if answer != python.Answers[j] || flat(text) != flat(want) {
				t.Errorf("world %d: %q is %s, read as %q; oslo.policy has %s, %q\ncredentials %v\ntarget %v",
					i, rule, answer, text, python.Answers[j], want, w.Creds, w.Target)
			}
		}
	}
	t.Logf("figure: oslo.policy: %d decisions compared: %d allowed, %d refused, %d exceptions", count["T"]+count["F"]+count["E"], count["T"], count["F"], count["E"])
	if count["T"] < decisions/10 || count["F"] < decisions/10 || count["E"] < decisions/1000 {
		t.Errorf("the decisions are too much alike: %v", count)
	}
}

// flat is a rule without parentheses: where they change nothing, oslo.policy
// leaves some out that are kept here.
func flat(rule string) string { return strings.NewReplacer("(", "", ")", "").Replace(rule) }

// ours is a world as the server has it: numbers as they stood in the JSON.
func ours(t *testing.T, w world) world {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var read world
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

func (w world) decide(t *testing.T, rule any) (text, answer string) {
	t.Helper()
	s := rules.Set{Rules: map[string]rules.Check{}}
	if w.Default != nil {
		s.Default = *w.Default
	}
	for name, r := range w.Rules {
		s.Rules[name], _ = parse(r)
	}
	c, err := parse(rule)
	if err != nil {
		return "", "E"
	}
	s.Rules["asked"] = c
	switch ok, err := s.Allowed(t.Context(), "asked", w.Creds, w.Target); {
	case err != nil:
		return c.String(), "E"
	case ok:
		return c.String(), "T"
	}
	return c.String(), "F"
}

// parse takes a rule in either form. A text that cannot be read refuses, which
// is no fault.
func parse(rule any) (rules.Check, error) {
	if list, ok := rule.([]any); ok {
		return rules.ParseList(list)
	}
	c, _ := rules.Parse(fmt.Sprint(rule))
	return c, nil
}
