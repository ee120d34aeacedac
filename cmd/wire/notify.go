package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/keystone-go/keystone-go/catalog"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/notify/rabbit"
	"github.com/keystone-go/keystone-go/resource"
)

// notifications tells others what the server does, where
// [oslo_messaging_notifications] driver asks for it.
func (b *builder) notifications(context.Context) error {
	o, err := notifyOptions(b.cfg)
	if err != nil {
		return err
	}
	for _, name := range o.Unserved {
		b.app.Warnings = append(b.app.Warnings, fmt.Sprintf("[oslo_messaging_notifications] driver %q is not served here: nobody is told of anything by it", name))
	}
	b.app.Notify, err = held(b, notificationsPart, o, func() (*notify.Notifier, error) { return b.notifier(o) }, (*notify.Notifier).Close)
	if err != nil {
		return b.blame("oslo_messaging_notifications", "driver", err)
	}
	return nil
}

const notificationsPart = "notifications"

// notifying is what a notifier is made of.
type notifying struct {
	Basic             bool
	OptOut            []string
	Publisher         string
	Queue             int
	Drivers, Unserved []string
	Rabbit            rabbit.Options
}

func notifyOptions(cfg *conf.Config) (notifying, error) {
	d, n := cfg.Default, cfg.OsloMessagingNotifications
	o := notifying{
		Basic: d.NotificationFormat == "basic", OptOut: d.NotificationOptOut, Publisher: d.DefaultPublisherID, Queue: cfg.KeystoneGo.NotificationQueue,
	}
	if o.Publisher == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("[DEFAULT] default_publisher_id is not set, and the host has no name: %w", err)
		}
		o.Publisher = host
	}
	o.Publisher = "identity." + o.Publisher
	for _, name := range n.Driver {
		switch name {
		case "", "noop":
		case "log", "messaging", "messagingv2":
			if !slices.Contains(o.Drivers, name) {
				o.Drivers = append(o.Drivers, name)
			}
		default:
			o.Unserved = append(o.Unserved, name)
		}
	}
	o.Rabbit = rabbitOptions(cfg.OsloMessagingRabbit)
	o.Rabbit.URL = cmp.Or(n.TransportURL, d.TransportURL)
	o.Rabbit.Exchange, o.Rabbit.Topics, o.Rabbit.Retry = d.ControlExchange, n.Topics, n.Retry
	return o, nil
}

func rabbitOptions(c conf.OsloMessagingRabbit) rabbit.Options {
	return rabbit.Options{
		TLS:     rabbit.TLS{On: c.SSL, Version: c.SSLVersion, CAFile: c.SSLCAFile, CertFile: c.SSLCertFile, KeyFile: c.SSLKeyFile},
		Durable: c.AMQPDurableQueues, AutoDelete: c.AMQPAutoDelete, Quorum: c.RabbitQuorumQueue, HA: c.RabbitHAQueues,
		DeliveryLimit: c.RabbitQuorumDeliveryLimit, MemoryLength: c.RabbitQuorumMaxMemoryLength, MemoryBytes: c.RabbitQuorumMaxMemoryBytes,
		Login: c.RabbitLoginMethod, Heartbeat: seconds(c.HeartbeatTimeoutThreshold),
		Interval: seconds(c.RabbitRetryInterval), Step: seconds(c.RabbitRetryBackoff), Max: seconds(c.RabbitIntervalMax),
	}
}

func (b *builder) notifier(o notifying) (*notify.Notifier, error) {
	c := notify.Config{
		Basic: o.Basic, OptOut: o.OptOut, Publisher: o.Publisher, Queue: o.Queue,
		Directory: directory{b.app.face}, Log: b.Log, Now: b.Now,
	}
	for _, name := range o.Drivers {
		if name == "log" {
			c.Drivers = append(c.Drivers, notify.Log{Logger: b.Log})
			continue
		}
		o.Rabbit.Name = name
		d, err := rabbit.New(o.Rabbit, b.Log)
		if err != nil {
			return nil, err
		}
		if d.Unverified() {
			b.app.Warnings = append(b.app.Warnings, "[oslo_messaging_rabbit] ssl_ca_file is not set: the message broker's certificate is not verified")
		}
		c.Drivers = append(c.Drivers, d)
	}
	return notify.New(c), nil
}

// directory asks the database of the current App.
type directory struct{ *face }

func (d directory) db() (db.DB, error) {
	if a := d.app.Load(); a != nil {
		return a.DB, nil
	}
	return nil, errors.New("there is no server yet")
}

func (d directory) IdentityService(ctx context.Context) (string, error) {
	c, err := d.db()
	if err != nil {
		return "", err
	}
	found, err := db.All(ctx, c, catalog.ServicesOfType("identity"))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

func (d directory) Domain(ctx context.Context, id, name string) (notify.Domain, error) {
	c, err := d.db()
	if err != nil {
		return notify.Domain{}, err
	}
	q := resource.DomainByID(id)
	if name != "" {
		q = resource.DomainByName(name)
	}
	found, err := db.One(ctx, c, q)
	if errors.Is(err, db.ErrNoRow) || errors.Is(err, db.ErrBadValue) {
		return notify.Domain{}, nil
	}
	return notify.Domain{ID: found.ID, Name: found.Name, Enabled: found.Enabled}, err
}

// notices counts notifications.
func (f *face) notices() notify.Stats {
	a := f.app.Load()
	if a == nil {
		return notify.Stats{}
	}
	return a.Notify.Stats()
}
