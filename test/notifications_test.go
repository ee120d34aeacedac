package test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/rabbittest"
	"github.com/keystone-go/keystone-go/test/harness"
)

// notice is what a listener reads of a notification.
type notice struct {
	Publisher string `json:"publisher_id"`
	Type      string `json:"event_type"`
	Priority  string `json:"priority"`
	Payload   struct {
		Outcome   string `json:"outcome"`
		Observer  struct{ ID string }
		Initiator struct {
			ID, Name  string
			UserID    string `json:"user_id"`
			ProjectID string `json:"project_id"`
			RequestID string `json:"request_id"`
			Host      struct{ Address, Agent string }
		}
		Target struct{ ID string }
		Reason struct{ ReasonType, ReasonCode string }
		Info   string `json:"resource_info"`
	} `json:"payload"`
}

// TestNotified has a listener at a RabbitMQ hear what a server did, and holds
// that against the lines of its log.
func TestNotified(t *testing.T) {
	broker := rabbittest.Start(t, nil)
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var lines lockedBuffer
			c := newCloud(t, harness.Options{Engine: engine, Lines: &lines, Conf: func(c *conf.Config) {
				c.OsloMessagingNotifications.Driver = []string{"log", "messagingv2"}
				c.OsloMessagingNotifications.Topics = []string{engine}
				c.OsloMessagingNotifications.TransportURL = "rabbit://guest:guest@" + broker.Addr + "/"
				c.Default.DefaultPublisherID = "here"
			}})
			admin := c.Admin()
			made := c.Do(harness.Call{Method: "POST", Path: "/v3/users", Token: admin, Body: harness.M{"user": harness.M{"name": "new", "password": "new-pw-never-told"}}})
			id := made.At(t, "user", "id").(string)
			c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Token: admin, Body: harness.Login("new", "wrong-pw-never-told", nil)})
			c.Do(harness.Call{Method: "POST", Path: "/v3/auth/tokens", Body: harness.Login("nobody", "wrong-pw-never-told", nil)})
			c.Do(harness.Call{Method: "DELETE", Path: "/v3/users/" + id, Token: admin})
			if a := c.Do(harness.Call{Method: "DELETE", Path: "/v3/users/" + id, Token: admin}); a.Status != http.StatusNotFound {
				t.Fatalf("delete again: %d", a.Status)
			}
			heard := hear(t, broker.Addr, engine+".info", 4)
			var got []string
			for _, n := range heard {
				got = append(got, n.Type+" "+n.Payload.Outcome+" "+n.Payload.Reason.ReasonType)
				if n.Publisher != "identity.here" || n.Priority != "INFO" || n.Payload.Observer.ID == "" || !strings.HasPrefix(n.Payload.Initiator.RequestID, "req-") {
					t.Errorf("notification %+v", n)
				}
			}
			want := []string{
				"identity.user.created success ", "identity.authenticate failure ",
				"identity.authenticate failure Could not find user: nobody.", "identity.user.deleted success ",
			}
			if !slices.Equal(got, want) {
				t.Errorf("heard %q, want %q", got, want)
			}
			if p := heard[0].Payload; p.Info != id || p.Target.ID != id || p.Initiator.Name != "admin" {
				t.Errorf("of the user: %+v", p)
			}
			if p := heard[1].Payload; p.Initiator.UserID != id || p.Initiator.Name != "new" || p.Initiator.ProjectID != "" {
				t.Errorf("of the wrong password: %+v", p)
			}
			// The two drivers are told on their own; wait for the slower one.
			for range 500 {
				if s := c.Notify.Stats(); s.Sent["log"] == 4 && s.Sent["messagingv2"] == 4 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			log := lines.String()
			for _, type_ := range []string{"user.created", "authenticate", "user.deleted"} {
				if !strings.Contains(log, " oslo.messaging.notification.identity."+type_+" [None req-") {
					t.Errorf("no line of %s", type_)
				}
			}
			if strings.Contains(log, "never-told") {
				t.Error("a password is in the log")
			}
			if s := c.Notify.Stats(); s.Sent["log"] != 4 || s.Sent["messagingv2"] != 4 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// hear reads messages off a queue of RabbitMQ.
func hear(t *testing.T, addr, queue string, n int) []notice {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var out []notice
	for end := time.Now().Add(20 * time.Second); len(out) < n && time.Now().Before(end); {
		channel, err := conn.Channel() // one that asks for a queue too early is closed
		if err != nil {
			t.Fatal(err)
		}
		d, found, err := channel.Get(queue, true)
		_ = channel.Close()
		if err != nil || !found {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if strings.Contains(string(d.Body), "never-told") {
			t.Error("a password is in a notification")
		}
		var envelope map[string]string
		var one notice
		if err := json.Unmarshal(d.Body, &envelope); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(envelope["oslo.message"]), &one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	if len(out) < n {
		t.Fatalf("heard %d notifications, want %d", len(out), n)
	}
	return out
}

// TestNobodyNotified: without a driver, or with noop alone, no part of the
// notifier runs; a driver that is not served is told of at the start.
func TestNobodyNotified(t *testing.T) {
	for driver, warned := range map[string]bool{"": false, "noop": false, "routing": true} {
		s := harness.New(t, harness.Options{Engine: "sqlite", Conf: func(c *conf.Config) { c.OsloMessagingNotifications.Driver = []string{driver} }})
		if s.Notify.On() {
			t.Errorf("driver %q: somebody is told", driver)
		}
		if found := slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "driver") }); found != warned {
			t.Errorf("driver %q: warnings %q", driver, s.Warnings)
		}
	}
}

// TestBrokerAway: a server whose broker does not answer serves on, and drops
// what it cannot tell.
func TestBrokerAway(t *testing.T) {
	s := harness.New(t, harness.Options{Engine: "sqlite", Conf: func(c *conf.Config) {
		c.OsloMessagingNotifications.Driver = []string{"messagingv2"}
		c.OsloMessagingNotifications.TransportURL = "rabbit://guest:guest@127.0.0.1:1/"
		c.KeystoneGo.NotificationQueue = 2
	}})
	admin := s.Admin()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if a := s.Do(harness.Call{Method: "POST", Path: "/v3/regions", Token: admin, Body: harness.M{"region": harness.M{"id": name}}}); a.Status != http.StatusCreated {
			t.Fatalf("region %s: %d", name, a.Status)
		}
	}
	for end := time.Now().Add(10 * time.Second); s.Notify.Stats().Dropped["messagingv2"] == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing was dropped: %+v", s.Notify.Stats())
		}
	}
	start := time.Now()
	s.Close()
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("the end took %s", took)
	}
}
