//go:build interop

package interop_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/keystone-go/keystone-go/test/harness"
	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// served are the recordings whose rows are served, with the writes among them
// that later ones depend on.
var served = regexp.MustCompile(`^\d+-(disc|auth|tok)-|-(disable-user|password-.*|patch-user.*)$|^\d+-(get|list|post|put|patch|delete)-regions?(-|$)`)

// leastRecorded and leastSteps are how many must be compared.
const (
	leastRecorded = 190
	leastSteps    = 60
)

// rules are what the scenarios of lockouts and passwords are about.
var rules = peer.Conf{"security_compliance": {
	"lockout_failure_attempts": "3", "lockout_duration": "4", "unique_last_password_count": "2",
	"password_regex": `^(?=.*\d)(?=.*[a-zA-Z]).{7,}`, "password_regex_description": "a letter, a digit, seven characters",
}}

// only narrows a run to the scenarios and the rows of the matrix that match
// it, while one is written; what is listed and does not differ is not told then.
var only = regexp.MustCompile(os.Getenv("KEYSTONE_GO_DIFF_ONLY"))

func narrowed() bool { return only.String() != "" }

// TestDiff sends the same requests to Python Keystone and to keystone-go, each
// on its own copy of one database, and fails on a difference that is not
// listed, and on a listed one that has gone.
func TestDiff(t *testing.T) {
	s := newStand(t)
	var total diff.Report
	if !narrowed() {
		t.Run("recorded", func(t *testing.T) { total = total.Plus(replayRecorded(t, s)) })
	}
	t.Run("scenarios", func(t *testing.T) { total = total.Plus(replayScenarios(t, s)) })
	t.Run("matrix", func(t *testing.T) { total = total.Plus(matrix(t, s)) })
	t.Logf("in all: %v", total)
	saveReport(t, "diff", total)
}

func replayRecorded(t *testing.T, s *stand) diff.Report {
	scenario, err := diff.Recorded(harness.Testdata("peer/golden"), served)
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, s.compare(t, "recorded", nil), leastRecorded, scenario)
}

func replayScenarios(t *testing.T, s *stand) diff.Report {
	scenarios, err := diff.Load("diff_scenarios")
	if err != nil {
		t.Fatal(err)
	}
	scenarios = slices.DeleteFunc(scenarios, func(s diff.Scenario) bool { return !only.MatchString(s.Name) })
	return replay(t, s.compare(t, "scenarios", rules), leastSteps, scenarios...)
}

func replay(t *testing.T, run *diff.Run, least int, scenarios ...diff.Scenario) diff.Report {
	for _, sc := range scenarios {
		if err := run.Scenario(t.Context(), sc); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(run.Report)
	if narrowed() {
		return run.Report
	}
	if run.Report.Compared < least {
		t.Errorf("%d compared, want at least %d", run.Report.Compared, least)
	}
	for _, l := range run.Lists.Unused() {
		t.Errorf("listed, and does not differ: %s", l)
	}
	return run.Report
}
