//go:build interop

package interop_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/test/interop/diff"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// leastSentences are how many notifications a run must compare.
const leastSentences = 86

// replayNotifications sends requests to both servers and compares what they
// write to their logs by oslo.messaging's driver "log": every character but
// for times and ids, and of these which are the same.
func replayNotifications(t *testing.T, s *stand) diff.Report {
	scenarios, err := diff.Load("diff_scenarios/notifications")
	if err != nil {
		t.Fatal(err)
	}
	var total diff.Report
	for _, format := range []string{"cadf", "basic"} {
		t.Run(format, func(t *testing.T) { total = total.Plus(replayFormat(t, s, format, scenarios)) })
	}
	return total
}

func replayFormat(t *testing.T, s *stand, format string, scenarios []diff.Scenario) diff.Report {
	dir := t.TempDir()
	logs := map[string]string{"python": filepath.Join(dir, "python.log"), "go": filepath.Join(dir, "go.log")}
	security := maps.Clone(rules["security_compliance"])
	security["report_invalid_password_hash"], security["invalid_password_hash_secret_key"] = "event", "pepper-of-a-test"
	if format == "basic" {
		security["invalid_password_hash_max_chars"], security["invalid_password_hash_function"] = "5", "sha512"
	}
	conf := func(log string) peer.Conf {
		return peer.Conf{
			"DEFAULT": {
				"log_file": log, "notification_format": format, "default_publisher_id": "here",
				// Successes of logins are told of as well.
				"notification_opt_out": "identity.policy.deleted",
			},
			"oslo_messaging_notifications": {"driver": "log"},
			"security_compliance":          security,
		}
	}
	name := "told_" + format // the names of databases are short
	report := replay(t, s, name, s.compare(t, name, conf(logs["go"]), conf(logs["python"])), 90, scenarios...)
	want := sentences(t, logs["python"], 0)
	got := sentences(t, logs["go"], len(want))
	if len(want) < leastSentences {
		t.Errorf("Python told of %d events, want at least %d", len(want), leastSentences)
	}
	compareSentences(t, want, got)
	if !t.Failed() {
		t.Logf("figure: %s: %d notifications are equal", format, len(got))
	}
	return report
}

// compareSentences tells of each line that is not where Python has it.
func compareSentences(t *testing.T, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		a, b := "nothing", "nothing"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			t.Errorf("notification %d:\nPython %s\n  here %s", i+1, a, b)
		}
	}
}

var (
	sentence = regexp.MustCompile(`(?m)^\S+ \S+ \d+ (\S+ oslo\.messaging\.notification\..*)$`)
	// volatile are the values of which each server has its own, with the forms
	// that they must have.
	volatile = []*regexp.Regexp{
		regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		regexp.MustCompile(`\b[0-9a-f]{32}\b`),
		regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{6}`),
	}
)

// sentences reads the notifications of a log, with a number in place of each
// id by the order in which they come up. It waits until there are as many as
// are wanted.
func sentences(t *testing.T, path string, least int) []string {
	t.Helper()
	var found [][]string
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found = sentence.FindAllStringSubmatch(string(text), -1)
		if len(found) >= least || time.Now().After(end) {
			break
		}
	}
	var out []string
	things := map[string]string{}
	for _, m := range found {
		_, body, _ := strings.Cut(m[1], "{")
		if !json.Valid([]byte("{" + body)) {
			t.Errorf("no JSON: %s", m[1])
		}
		line := volatile[2].ReplaceAllString(m[1], "<time>")
		// Those with dashes are of the one event or request.
		line = numbered(line, volatile[0], map[string]string{}, "once")
		out = append(out, numbered(line, volatile[1], things, "id"))
	}
	return out
}

func numbered(line string, form *regexp.Regexp, numbers map[string]string, name string) string {
	return form.ReplaceAllStringFunc(line, func(id string) string {
		if numbers[id] == "" {
			numbers[id] = fmt.Sprintf("<%s %d>", name, len(numbers)+1)
		}
		return numbers[id]
	})
}
