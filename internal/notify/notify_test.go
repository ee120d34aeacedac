package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// kept is a driver that keeps what it is given.
type kept struct {
	mu       sync.Mutex
	messages []string
	hold     chan struct{} // closed lets Send go on
	fail     error
}

func (*kept) Name() string { return "kept" }
func (*kept) Close()       {}

func (k *kept) Send(ctx context.Context, m notify.Message) error {
	if k.hold != nil {
		select {
		case <-k.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.messages = append(k.messages, pyjson.Encode(m.Body))
	return k.fail
}

// cloud is a directory of one domain.
type cloud struct{ service string }

func (c cloud) IdentityService(context.Context) (string, error) { return c.service, nil }

func (cloud) Domain(_ context.Context, id, name string) (notify.Domain, error) {
	if id == "default" || name == "Default" {
		return notify.Domain{ID: "default", Name: "Default", Enabled: true}, nil
	}
	return notify.Domain{}, nil
}

var at = time.Date(2026, 11, 30, 0, 48, 8, 475527000, time.UTC)

func start(k *kept, change func(*notify.Config)) *notify.Notifier {
	c := notify.Config{
		Publisher: "identity.here", Queue: 100, Drivers: []notify.Driver{k}, Directory: cloud{"service-id"},
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return at },
		OptOut: []string{"identity.authenticate.success"},
	}
	if change != nil {
		change(&c)
	}
	return notify.New(c)
}

// admins is a request of an administrator.
func admins() context.Context {
	return olog.WithRequest(context.Background(), &olog.Request{
		ID: "req-1", Addr: netip.MustParseAddr("192.0.2.1"), Agent: "agent", User: "71d6abcd71d6abcd71d6abcd71d6abcd", UserName: "admin", Project: "p",
	})
}

// payloads are those of the messages, without ids that are made anew.
func payloads(t *testing.T, k *kept) []string {
	t.Helper()
	var out []string
	for _, m := range k.messages {
		o, err := pyjson.DecodeObject([]byte(m))
		if err != nil {
			t.Fatal(err)
		}
		if ts, _ := o.String("timestamp"); ts != "2026-11-30 00:48:08.475527" {
			t.Errorf("timestamp %q", ts)
		}
		p, _ := o.Object("payload")
		kind, _ := o.String("event_type")
		if _, made := p.Get("id"); made {
			p = p.Set("id", "-")
		}
		if target, found := p.Object("target"); found && kind != "identity.user.created" {
			p = p.Set("target", target.Set("id", "-"))
		}
		if who, found := p.Object("initiator"); found {
			if id, _ := who.String("id"); strings.Count(id, "-") == 4 {
				p = p.Set("initiator", who.Set("id", "-"))
			}
		}
		out = append(out, kind+" "+pyjson.Encode(p))
	}
	return out
}

// TestForms holds events against those that Python Keystone was seen to send.
func TestForms(t *testing.T) {
	const who = `"initiator": {"id": "71d6abcd71d6abcd71d6abcd71d6abcd", "typeURI": "service/security/account/user", "host": {"address": "192.0.2.1", "agent": "agent"}, "user_id": "71d6abcd71d6abcd71d6abcd71d6abcd", "project_id": "p", "request_id": "req-1", "name": "admin", "username": "admin"}, `
	head := func(action, outcome string) string {
		return `{"typeURI": "http://schemas.dmtf.org/cloud/audit/1.0/event", "eventType": "activity", "id": "-", "eventTime": "2026-11-30T00:48:08.475527+0000", "action": "` + action + `", "outcome": "` + outcome + `", "observer": {"id": "service-id", "typeURI": "service/security"}, `
	}
	const account = `"target": {"id": "-", "typeURI": "service/security/account/user"}`
	stranger := olog.WithRequest(context.Background(), &olog.Request{ID: "req-2", GlobalID: "req-3"})
	const unknown = `"initiator": {"id": "-", "typeURI": "service/security/account/user", "host": {"agent": ""}, "request_id": "req-2", "global_request_id": "req-3", `
	for _, tt := range []struct {
		name  string
		basic bool
		do    func(*notify.Notifier)
		want  []string
	}{
		{"created", false, func(n *notify.Notifier) {
			n.Changed(admins(), notify.Change{Operation: "created", Kind: "user", ID: "u"})
		}, []string{`identity.user.created ` + head("created.user", "success") + who + `"target": {"id": "u", "typeURI": "data/security/account/user"}, "resource_info": "u"}`}},
		{"by nobody", false, func(n *notify.Notifier) {
			n.Changed(admins(), notify.Change{Operation: "deleted", Kind: "project tag", ID: "blue", Nobody: true})
		}, []string{`identity.project tag.deleted ` + head("deleted.project tag", "success") + `"target": {"id": "-", "typeURI": "unknown"}, "resource_info": "blue"}`}},
		{"root domain", false, func(n *notify.Notifier) {
			n.Changed(admins(), notify.Change{Operation: "created", Kind: "domain", ID: "<<keystone.domain.root>>"})
		}, nil},
		{"member, basic", true, func(n *notify.Notifier) {
			n.Changed(admins(), notify.Change{Operation: "updated", Kind: "group", ID: "g", Member: "u", Added: true})
		}, []string{`identity.group.updated {"resource_info": "g", "actor_id": "u", "actor_type": "user", "actor_operation": "added", "request_id": "req-1"}`}},
		{"by nobody, basic", true, func(n *notify.Notifier) {
			n.Changed(stranger, notify.Change{Operation: "deleted", Kind: "user", ID: "u", Nobody: true}, notify.Change{Operation: "deleted", Kind: "user", ID: "v"})
		}, []string{`identity.user.deleted {"resource_info": "u"}`, `identity.user.deleted {"resource_info": "v", "request_id": "req-2", "global_request_id": "req-3"}`}},
		{"role", true, func(n *notify.Notifier) {
			n.Granted(admins(), notify.Grant{Operation: "created", RoleID: "r", UserID: "u", ProjectID: "p", Failed: true})
		}, []string{`identity.role_assignment.created ` + head("created.role_assignment", "failure") + who + account + `, "project": "p", "user": "u", "inherited_to_projects": false, "role": "r"}`}},
		{"role below", false, func(n *notify.Notifier) {
			n.Granted(admins(), notify.Grant{Operation: "deleted", RoleID: "r", GroupID: "g", DomainID: "d", Inherited: true, Nobody: true})
		}, []string{`identity.role_assignment.deleted ` + head("deleted.role_assignment", "success") + account + `, "domain": "d", "group": "g", "inherited_to_projects": true, "role": "r"}`}},
		{"wrong password", true, func(n *notify.Notifier) {
			n.LoggedIn(stranger, notify.Login{UserID: "default", UserName: "ana", Failed: true})
		}, []string{`identity.authenticate ` + head("authenticate", "failure") + strings.Replace(unknown, `"-"`, `"0f9f541ff7c25fc79c390b74de3c7653"`, 1) + `"user_id": "default", "name": "ana", "username": "ana"}, ` + account + `}`}},
		{"unknown name", false, func(n *notify.Notifier) {
			why := &notify.Reason{Text: "Could not find user: nope.", Code: "404"}
			n.LoggedIn(stranger, notify.Login{UserName: "nope", DomainName: "Default", Unknown: true, Failed: true, Reason: why})
		}, []string{`identity.authenticate ` + head("authenticate", "failure") + unknown + `"user_name": "nope", "domain_id": "default", "domain_name": "Default"}, ` + account + `, "reason": {"reasonType": "Could not find user: nope.", "reasonCode": "404"}}`}},
		{"unknown id", false, func(n *notify.Notifier) {
			n.LoggedIn(stranger, notify.Login{UserID: "nope", Unknown: true, Failed: true})
		}, []string{`identity.authenticate ` + head("authenticate", "failure") + unknown + `"user_id": "nope", "domain_id": null, "domain_name": null}, ` + account + `}`}},
		{"unknown domain", false, func(n *notify.Notifier) {
			n.LoggedIn(stranger, notify.Login{UserName: "nope", DomainName: "none", Unknown: true, Failed: true})
		}, nil},
		{"opted out", false, func(n *notify.Notifier) { n.LoggedIn(stranger, notify.Login{UserID: "u", UserName: "ana"}) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{}
			n := start(k, func(c *notify.Config) { c.Basic = tt.basic })
			tt.do(n)
			n.Close()
			if d := cmp.Diff(tt.want, payloads(t, k)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestOutcomes counts what was sent, failed, and dropped by a full queue, and
// holds that nobody waits.
func TestOutcomes(t *testing.T) {
	k := &kept{hold: make(chan struct{}), fail: errors.New("no")}
	n := start(k, func(c *notify.Config) { c.Queue = 3 })
	start := time.Now()
	for range 50 {
		n.Changed(admins(), notify.Change{Operation: "created", Kind: "user", ID: "u"})
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("50 events took %s", took)
	}
	close(k.hold)
	n.Close()
	n.Close() // twice is once
	n.Changed(admins(), notify.Change{Operation: "created", Kind: "user", ID: "late"})
	s := n.Stats()
	if s.Failed["kept"] == 0 || s.Sent["kept"] != 0 || s.Failed["kept"]+s.Dropped["kept"] != 51 || s.Waiting != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestNobody: a nil notifier does nothing.
func TestNobody(t *testing.T) {
	n := notify.New(notify.Config{})
	n.Changed(admins(), notify.Change{})
	n.Granted(admins(), notify.Grant{})
	n.LoggedIn(admins(), notify.Login{})
	n.Close()
	if n.On() || len(n.Stats().Sent) != 0 {
		t.Error("somebody is told")
	}
}

// TestLog: a line says whose request it was, as oslo.messaging's does.
func TestLog(t *testing.T) {
	var text strings.Builder
	log := slog.New(olog.New(&text, olog.Options{}))
	n := notify.New(notify.Config{Publisher: "identity.here", Queue: 1, Drivers: []notify.Driver{notify.Log{Logger: log}}, Directory: cloud{}, Log: log, Now: time.Now})
	n.Changed(admins(), notify.Change{Operation: "created", Kind: "user", ID: "é"})
	n.Close()
	_, body, found := strings.Cut(text.String(), " INFO oslo.messaging.notification.identity.user.created [None req-1 ")
	body = body[max(0, strings.Index(body, "{")):]
	var message map[string]any
	if !found || json.Unmarshal([]byte(body), &message) != nil || !strings.Contains(body, `"\u00e9"`) {
		t.Errorf("line %q", text.String())
	}
	if keys := []string{"message_id", "publisher_id", "event_type", "priority", "payload", "timestamp"}; slices.ContainsFunc(keys, func(k string) bool { return message[k] == nil }) {
		t.Errorf("message %v", message)
	}
}
