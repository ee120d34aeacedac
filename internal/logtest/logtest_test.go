package logtest_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/logtest"
	"github.com/keystone-go/keystone-go/internal/olog"
)

// failures is a test that others may fail.
type failures struct {
	testing.TB
	told []string
	ends []func()
}

func (f *failures) Errorf(format string, _ ...any) { f.told = append(f.told, format) }
func (f *failures) Cleanup(end func())             { f.ends = append(f.ends, end) }

// TestLogsAreSearched: what goes through a server and stands in its log fails
// the test, and nothing else does.
func TestLogsAreSearched(t *testing.T) {
	token := "gAAAAABn" + strings.Repeat("Zx9_", 30)
	body := `{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"visible","password":"Hunter2-a"}},"token":{"id":"` + token + `"}}},
		"user":{"password":"Hunter2-b","original_password":"Hunter2-c","id":"visible-id"},"list":[{"secret":"Hunter2-d"},{"passcode":"112233"}]}`
	for text, held := range map[string]bool{
		"Hunter2-a": true, "x=Hunter2-b,": true, "Hunter2-c": true, "Hunter2-d": true, "112233": true, "it is " + token: true,
		"visible": false, "visible-id": false, "Hunter2": false, token[:40]: false, token[1:]: false, "": false,
	} {
		f := &failures{TB: t}
		secrets := &logtest.Secrets{}
		secrets.AddBody(body)
		log := logtest.Checked(f, nil, secrets)
		if _, err := log.Write([]byte("2026-11-30 03:25:16.007 4711 INFO keystone [-] said " + text + "\n")); err != nil {
			t.Fatal(err)
		}
		f.ends[0]()
		if (len(f.told) == 1) != held || len(f.told) > 1 {
			t.Errorf("%q: %d faults told, a secret is held: %v", text, len(f.told), held)
		}
	}
}

// TestKollaFails: a line that is none, and a stack that looks like one.
func TestKollaFails(t *testing.T) {
	f := &failures{TB: t}
	log := logtest.Checked(f, nil, &logtest.Secrets{})
	slog.New(olog.New(log, olog.Options{})).Info("good")
	if len(f.told) != 0 {
		t.Errorf("a good line: %q", f.told)
	}
	for _, record := range []string{"no line\n", "2026-11-30 03:25:16.007 4711 INFO keystone [-] a\n2026-11-30 03:25:16.007 4711 INFO keystone [-] b\n"} {
		before := len(f.told)
		if _, err := log.Write([]byte(record)); err != nil || len(f.told) != before+1 {
			t.Errorf("%q: %d faults told", record, len(f.told)-before)
		}
	}
}
