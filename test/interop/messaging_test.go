//go:build interop

package interop_test

import (
	"encoding/json"
	"log/slog"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/notify/rabbit"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/rabbittest"
	"github.com/keystone-go/keystone-go/test/interop/peer"
)

// notifier sends one notification by oslo.messaging, as keystone does.
const notifier = `
import sys, oslo_messaging
from oslo_config import cfg
url, driver = sys.argv[1:]
conf = cfg.ConfigOpts()
oslo_messaging.set_transport_defaults('keystone')
transport = oslo_messaging.get_notification_transport(conf, url=url)
conf([], project='keystone')
n = oslo_messaging.Notifier(transport, 'identity.here', driver=driver, topics=['notifications'])
n.info({}, 'identity.user.created', {'resource_info': 'é'})
`

// TestMessagesAreOsloMessagings sends by oslo.messaging and by us to one
// RabbitMQ, each of them first once, so that both must declare the same, and
// compares what a listener gets.
func TestMessagesAreOsloMessagings(t *testing.T) {
	for _, name := range []string{"messagingv2", "messaging"} {
		for _, first := range []string{"python", "go"} {
			t.Run(name+" "+first+" first", func(t *testing.T) {
				broker := rabbittest.Start(t, nil)
				url := "rabbit://guest:guest@" + broker.Addr + "/"
				send := map[string]func(){
					"python": func() {
						out, err := exec.Command(peer.Venv("python"), "-c", notifier, url, name).CombinedOutput()
						if err != nil {
							t.Fatalf("%v\n%s", err, out)
						}
					},
					"go": func() {
						d, err := rabbit.New(rabbit.Options{
							Name: name, URL: url, Topics: []string{"notifications"}, Exchange: "keystone", Login: "AMQPLAIN",
							Heartbeat: time.Minute, Interval: time.Second, Max: time.Second,
						}, slog.New(slog.DiscardHandler))
						if err != nil {
							t.Fatal(err)
						}
						defer d.Close()
						err = d.Send(t.Context(), notify.Message{Type: "identity.user.created", Body: pyjson.Object{
							{Key: "message_id", Value: "01234567-89ab-cdef-0123-456789abcdef"},
							{Key: "publisher_id", Value: "identity.here"},
							{Key: "event_type", Value: "identity.user.created"},
							{Key: "priority", Value: "INFO"},
							{Key: "payload", Value: pyjson.Object{{Key: "resource_info", Value: "é"}}},
							{Key: "timestamp", Value: "2026-11-30 00:48:08.475527"},
						}})
						if err != nil {
							t.Fatal(err)
						}
					},
				}
				second := map[string]string{"python": "go", "go": "python"}[first]
				send[first]()
				send[second]()
				got := map[string]any{first: delivered(t, broker), second: delivered(t, broker)}
				if d := cmp.Diff(got["python"], got["go"]); d != "" {
					t.Errorf("(-Python +keystone-go):\n%s", d)
				}
			})
		}
	}
}

var ownIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}`)

// delivered is the next message, with its properties.
func delivered(t *testing.T, broker *rabbittest.Server) any {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + broker.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	d, found, err := channel.Get("notifications.info", true)
	if err != nil || !found {
		t.Fatalf("found %v, error %v", found, err)
	}
	if !json.Valid(d.Body) {
		t.Errorf("body %s", d.Body)
	}
	return map[string]any{
		"exchange": d.Exchange, "key": d.RoutingKey, "type": d.ContentType, "encoding": d.ContentEncoding, "mode": d.DeliveryMode,
		"priority": d.Priority, "headers": len(d.Headers), "expiration": d.Expiration, "body": ownIDs.ReplaceAllString(string(d.Body), "<own>"),
	}
}
