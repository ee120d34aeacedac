package test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/logtest"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/test/harness"
)

// lockedBuffer is written to by several loggers.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// TestLogOfEverything drives a call of each kind and reads what the log holds
// of it in both forms: every line is one that kolla reads, says whose request
// it was, and shows no secret.
func TestLogOfEverything(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var lines, records lockedBuffer
			before := slog.Default()
			defer slog.SetDefault(before)
			slog.SetDefault(slog.New(slog.NewMultiHandler(olog.New(&lines, olog.Options{Debug: true}), olog.New(&records, olog.Options{Debug: true, JSON: true}))))
			three := 3
			c := newCloud(t, harness.Options{
				Engine: engine, Lines: &lines, Handler: olog.New(&records, olog.Options{Debug: true, JSON: true}),
				Conf: func(c *conf.Config) {
					withTOTP(c)
					c.OsloMessagingNotifications.Driver = []string{"log"}
					c.SecurityCompliance.LockoutFailureAttempts = &three
					c.SecurityCompliance.UniqueLastPasswordCount = 2
				},
			})
			s := secrets{}
			s.add("password", harness.Password, "ana-pw", "ben-pw", "Hunter2")
			everything(c, s)
			askOldly(c, s)
			s.stored(c)
			c.App.Notify.Close() // all that it logs is there
			for form, text := range map[string]string{"lines": lines.String(), "JSON": records.String()} {
				if found := s.in(text); found != "" {
					t.Errorf("the log as %s holds a %s", form, found)
				}
			}
			n, access, named := readLines(t, lines.String())
			if n < 150 || access < 100 || named < 25 {
				t.Errorf("%d lines, %d of them of requests, %d with a user: too few to be everything", n, access, named)
			}
			readRecords(t, records.String(), n)
			t.Logf("%d lines, %d of them of requests, %d with a user; %d secrets looked for", n, access, named, len(s))
		})
	}
}

// askOldly puts secrets where older APIs had them: into paths and queries.
func askOldly(c *cloud, s secrets) {
	token := c.as("ana", "p1")
	s.add("token", token)
	for _, path := range []string{
		"/v2.0/tokens/" + token, "/v2.0/tokens/" + token + "/endpoints", "/v3/auth/tokens/" + token, "/v3/users?token=" + token,
		"/v3/" + token + "%0A2026-01-01%2000:00:00.000%201%20INFO%20keystone%20[-]%20all%20is%20well", "/v3/regions/" + token,
	} {
		c.Do(harness.Call{Method: "GET", Path: path, Token: token})
		c.Do(harness.Call{Method: "GET", Path: path})
	}
}

func readLines(t *testing.T, text string) (n, access, named int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := logtest.Line.FindStringSubmatch(line)
		if m == nil || !logtest.FirstLine.MatchString(line) {
			t.Errorf("kolla cannot read: %s", line)
			continue
		}
		n++
		if m[logtest.Line.SubexpIndex("python_module")] == "keystone.access" {
			access++
			if !strings.Contains(m[logtest.Line.SubexpIndex("Payload")], " status: ") || len(m[logtest.Line.SubexpIndex("request_id")]) != 36 {
				t.Errorf("an access line without its parts: %s", line)
			}
			if m[logtest.Line.SubexpIndex("user_id")] != "-" {
				named++
			}
		}
	}
	return n, access, named
}

func readRecords(t *testing.T, text string, want int) {
	t.Helper()
	n := 0
	for line := range strings.Lines(text) {
		n++
		var r struct {
			Message, Asctime, Name, Levelname string
			Context                           map[string]any
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Message == "" || r.Asctime == "" || r.Name == "" || r.Levelname == "" {
			t.Errorf("no record: %v: %s", err, line)
		}
		if r.Name == "keystone.access" && r.Context["request_id"] == nil {
			t.Errorf("a request without its id: %s", line)
		}
	}
	if n != want {
		t.Errorf("%d records of JSON, %d lines", n, want)
	}
}
