//go:build interop

package interop_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// served are the recordings whose rows are served, with the writes among them
// that later ones depend on.
var served = regexp.MustCompile(`^\d+-(disc|auth|tok)-|-(disable-user|password-.*|patch-user.*)$|^\d+-(get|list|post|put|patch|delete)-regions?(-|$)|^\d+-(list-(services|endpoints)(-|$)|post-endpoint-bad-|polic(ies|y-endpoints)$)|^\d+-(domain-config|limits|registered-limits|post-limit|delete-registered-limit|role|list-roles|list-credentials(-type|-own|-appcred)?|post-credential-[a-z0-9-]+|assignments|grants?|put-grant|delete-grant|post-role|remove-role|delete-role)(-|$)`)

// leastRecorded and leastSteps are how many must be compared.
const (
	leastRecorded  = 201
	leastSteps     = 60
	leastTwoLevels = 40
)

// rules are what the scenarios of lockouts, passwords and credentials are about.
var rules = peer.Conf{"security_compliance": {
	"lockout_failure_attempts": "3", "lockout_duration": "4", "unique_last_password_count": "2",
	"password_regex": `^(?=.*\d)(?=.*[a-zA-Z]).{7,}`, "password_regex_description": "a letter, a digit, seven characters",
}, "credential": {"user_limit": "30"}}

// TestDiff sends the same requests to Python Keystone and to keystone-go, each
// on its own copy of one database, and fails on a difference that is not
// listed, and on a listed one that has gone.
func TestDiff(t *testing.T) {
	s := newStand(t)
	var total diff.Report
	t.Run("recorded", func(t *testing.T) { total = total.Plus(replayRecorded(t, s)) })
	t.Run("scenarios", func(t *testing.T) { total = total.Plus(replayScenarios(t, s)) })
	t.Run("notifications", func(t *testing.T) { total = total.Plus(replayNotifications(t, s)) })
	t.Run("two levels", func(t *testing.T) { total = total.Plus(replayTwoLevels(t, s)) })
	t.Run("matrix", func(t *testing.T) { total = total.Plus(matrix(t, s)) })
	t.Logf("in all: %v", total)
	rows := 0
	for _, f := range s.families {
		rows += len(f.Rows)
	}
	saveReport(t, "diff", struct {
		diff.Report
		Rows, Actors int
	}{total, rows, len(s.actors)})
}

func replayRecorded(t *testing.T, s *stand) diff.Report {
	scenario, err := diff.Recorded(harness.Testdata("peer/golden"), served)
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, s, "recorded", s.compare(t, "recorded", nil, nil), leastRecorded, scenario)
}

func replayScenarios(t *testing.T, s *stand) diff.Report {
	scenarios, err := diff.Load("diff_scenarios")
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, s, "scenarios", s.compare(t, "scenarios", rules, nil), leastSteps, scenarios...)
}

// replayTwoLevels compares the other model of limits. Python does not start on
// deeper trees of projects than the model knows, so they are made flat first.
func replayTwoLevels(t *testing.T, s *stand) diff.Report {
	scenarios, err := diff.Load("diff_scenarios/two_levels")
	if err != nil {
		t.Fatal(err)
	}
	model := peer.Conf{"unified_limit": {"enforcement_model": "strict_two_level"}}
	run := s.compare(t, "two_levels", model, nil, `update project set parent_id = domain_id where not is_domain`)
	return replay(t, s, "two_levels", run, leastTwoLevels, scenarios...)
}

func replay(t *testing.T, s *stand, name string, run *diff.Run, least int, scenarios ...diff.Scenario) diff.Report {
	p := parts{run: run}
	for _, sc := range scenarios {
		p.part(t, sc.Name, func(t *testing.T) {
			if err := run.Scenario(t.Context(), sc); err != nil {
				t.Fatal(err)
			}
		})
	}
	p.part(t, "rows", func(t *testing.T) { s.sameRows(t, run, name) })
	return p.end(t, least)
}

// parts makes a test of each part of a run, so that -run can choose some.
type parts struct {
	run        *diff.Run
	known, ran int
}

func (p *parts) part(t *testing.T, name string, f func(t *testing.T)) {
	p.known++
	t.Run(name, func(t *testing.T) {
		p.ran++
		p.run.Fail = func(step string, lines []string) {
			t.Errorf("%s (Python, and what keystone-go says here):\n    %s", step, strings.Join(lines, "\n    "))
		}
		f(t)
	})
}

// end holds a run that left nothing out against the least that it must
// compare, and fails on what is listed and does not differ.
func (p *parts) end(t *testing.T, least int) diff.Report {
	t.Helper()
	r := p.run.Report
	t.Log(r)
	if p.ran < p.known {
		t.Logf("%d parts of %d: no word on what is missing", p.ran, p.known)
		return r
	}
	if r.Compared < least {
		t.Errorf("%d compared, want at least %d", r.Compared, least)
	}
	for _, l := range p.run.Lists.Unused() {
		t.Errorf("listed, and does not differ: %s", l)
	}
	return r
}
