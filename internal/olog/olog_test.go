package olog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/keystone-go/keystone-go/internal/logtest"
	"github.com/keystone-go/keystone-go/internal/olog"
)

func logged(t *testing.T, o olog.Options, f func(*slog.Logger)) string {
	t.Helper()
	var b bytes.Buffer
	o.PID = 42
	f(slog.New(olog.New(&b, o)))
	return b.String()
}

func TestLineMatchesKolla(t *testing.T) {
	full := &olog.Request{ID: olog.NewRequestID(), GlobalID: olog.NewRequestID(), User: "u1", Project: "p1", Domain: "d1", System: "all", UserDomain: "default", ProjectDomain: "acme"}
	bare := &olog.Request{ID: olog.NewRequestID()}
	odd := &olog.Request{ID: olog.NewRequestID(), User: "cn=x y] z\n"}
	cases := []struct {
		name string
		req  *olog.Request
		want map[string]string
	}{
		{"no request", nil, map[string]string{"Pid": "42", "log_level": "WARNING", "python_module": "keystone.olog_test", "Payload": "[-] hello k=v"}},
		{"anonymous", bare, map[string]string{"global_request_id": "", "request_id": bare.ID[4:], "user_id": "-", "tenant_id": "-", "domain_id": "-", "system_scope": "-", "user_domain": "-", "project_domain": "-", "Payload": " hello k=v"}},
		{"scoped", full, map[string]string{"global_request_id": full.GlobalID[4:], "request_id": full.ID[4:], "user_id": "u1", "tenant_id": "p1", "domain_id": "d1", "system_scope": "all", "user_domain": "default", "project_domain": "acme"}},
		{"odd user", odd, map[string]string{"request_id": odd.ID[4:], "user_id": `"cn=x_y__z\n"`, "tenant_id": "-"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.req != nil {
				ctx = olog.WithRequest(ctx, c.req)
			}
			line := logged(t, olog.Options{}, func(l *slog.Logger) { l.WarnContext(ctx, "hello", "k", "v") })
			m := logtest.Line.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil || !logtest.FirstLine.MatchString(line) {
				t.Fatalf("no match: %q", line)
			}
			for name, want := range c.want {
				if got := m[logtest.Line.SubexpIndex(name)]; got != want {
					t.Errorf("%s: got %q, want %q in %q", name, got, want, line)
				}
			}
		})
	}
}

func TestLineCannotBeForged(t *testing.T) {
	forged := "x\n2026-01-01 00:00:00.000 1 INFO keystone [-] all is well\u2028\x1b[2J"
	out := logged(t, olog.Options{}, func(l *slog.Logger) {
		l.Error(forged, "name", forged, "other", "a\nb", olog.Stack([]byte(forged)))
	})
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if strings.ContainsAny(out, "\x1b\u2028") || len(lines) != 3 {
		t.Fatalf("got %d lines: %q", len(lines), out)
	}
	for _, l := range lines[1:] {
		if logtest.FirstLine.MatchString(l) {
			t.Errorf("a line of the stack looks like a record: %q", l)
		}
	}
}

func TestLevelsNamesGroups(t *testing.T) {
	out := logged(t, olog.Options{}, func(l *slog.Logger) {
		l.Debug("unseen")
		l.With(olog.Name("keystone.access"), "a", 1).WithGroup("g").Info("seen", "b", true)
	})
	if !strings.Contains(out, " 42 INFO keystone.access [-] seen a=1 g.b=true\n") || strings.Contains(out, "unseen") {
		t.Errorf("got %q", out)
	}
	if out := logged(t, olog.Options{Debug: true}, func(l *slog.Logger) { l.Debug("seen") }); !strings.Contains(out, " DEBUG ") {
		t.Errorf("debug: got %q", out)
	}
}

func TestJSON(t *testing.T) {
	req := &olog.Request{ID: olog.NewRequestID(), User: "u1"}
	out := logged(t, olog.Options{JSON: true}, func(l *slog.Logger) {
		l.ErrorContext(olog.WithRequest(t.Context(), req), "né\n", "n", 3, olog.Name("keystone.api"), olog.Stack([]byte("a\nb")))
	})
	var got struct {
		Message, Name, Levelname, Traceback, Filename string
		Context                                       map[string]any
		Extra                                         map[string]any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%v in %q", err, out)
	}
	if got.Message != "né\n" || got.Name != "keystone.api" || got.Levelname != "ERROR" || got.Traceback != "a\nb" || got.Filename != "olog_test.go" ||
		got.Context["request_id"] != req.ID || got.Context["user"] != "u1" || got.Context["project"] != nil || got.Extra["n"] != 3.0 {
		t.Errorf("got %+v", got)
	}
}

func TestSecretHides(t *testing.T) {
	s := olog.Secret("hunter2")
	asJSON, err := json.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), fmt.Sprintf("%+v", struct{ S olog.Secret }{s}), string(asJSON),
		logged(t, olog.Options{}, func(l *slog.Logger) { l.Info("x", "s", s) }),
		logged(t, olog.Options{JSON: true}, func(l *slog.Logger) { l.Info("x", "s", s) }),
	}
	for _, out := range shown {
		if strings.Contains(out, "hunter2") {
			t.Errorf("shown: %q", out)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	form := regexp.MustCompile(`^req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 100 {
		id := olog.NewRequestID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("got %q", id)
		}
		seen[id] = true
	}
}

func TestTokensAreHidden(t *testing.T) {
	token := "gAAAAABl" + strings.Repeat("Ab_-9", 30) + "=="
	jws := "eyJ0eXAi." + strings.Repeat("x", 30) + "." + strings.Repeat("y", 30)
	sum := sha256.Sum256([]byte(token))
	shown := "{SHA256}" + hex.EncodeToString(sum[:])
	out := logged(t, olog.Options{}, func(l *slog.Logger) {
		l.Error("Could not find region: "+token+". And "+token+"/x "+jws, "error", errors.New("no "+jws), "short", "gAAAA-x", "word", "eyJ")
	})
	if strings.Contains(out, token[:50]) || strings.Contains(out, jws[:20]) || strings.Count(out, shown+". And "+shown+"/x {SHA256}") != 1 ||
		!strings.Contains(out, "short=gAAAA-x word=eyJ") {
		t.Errorf("got %q", out)
	}
}
