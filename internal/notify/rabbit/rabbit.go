// Package rabbit sends notifications to RabbitMQ as oslo.messaging does: to a
// topic exchange, with a queue for each topic so that nothing is lost before
// somebody listens.
package rabbit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/keystone-go/keystone-go/internal/notify"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
)

// Options are those of oslo.messaging.
type Options struct {
	// Name is messaging, which sends messages as they are, or messagingv2,
	// which puts them into an envelope.
	Name     string
	URL      string   // transport_url
	Topics   []string // [oslo_messaging_notifications] topics
	Exchange string   // [DEFAULT] control_exchange
	Retry    int      // [oslo_messaging_notifications] retry; below 0: for ever
	TLS      TLS

	Durable, AutoDelete, Quorum, HA          bool
	DeliveryLimit, MemoryLength, MemoryBytes int

	Login               string // rabbit_login_method
	Heartbeat           time.Duration
	Interval, Step, Max time.Duration // between tries to connect
}

// Driver sends to the first broker of its URL that answers.
type Driver struct {
	Options
	log     *slog.Logger
	address address
	tls     *tls.Config // nil: plain
	next    int         // the host to try

	link *link // nil: not connected
}

// link is a connection, with what was declared over it.
type link struct {
	raw      net.Conn
	conn     *amqp.Connection
	channel  *amqp.Channel
	declared map[string]bool // topics
}

// New reads the URL and the files of TLS; it does not connect.
func New(o Options, log *slog.Logger) (*Driver, error) {
	a, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if err := o.override(a.query); err != nil {
		return nil, err
	}
	if o.Quorum && o.HA {
		return nil, errors.New("rabbit_quorum_queue and rabbit_ha_queues exclude one another")
	}
	if !slices.Contains([]string{"PLAIN", "AMQPLAIN", "EXTERNAL"}, strings.ToUpper(o.Login)) {
		return nil, fmt.Errorf("rabbit_login_method %s is not served", o.Login)
	}
	d := &Driver{Options: o, log: log, address: a}
	rand.Shuffle(len(a.hosts), func(i, j int) { a.hosts[i], a.hosts[j] = a.hosts[j], a.hosts[i] })
	if o.TLS.On {
		d.tls, err = o.TLS.config()
	}
	return d, err
}

// Name is messaging or messagingv2.
func (d *Driver) Name() string { return d.Options.Name }

// Unverified tells that TLS is spoken with whoever answers.
func (d *Driver) Unverified() bool { return d.tls != nil && d.tls.InsecureSkipVerify }

// Send publishes a message on each topic and waits until the broker has it.
// What fails is tried again, as often as Retry says.
func (d *Driver) Send(ctx context.Context, m notify.Message) error {
	var errs []error
	for _, topic := range d.Topics {
		body := d.body(m.Body)
		errs = append(errs, d.again(ctx, func() error { return d.publish(ctx, topic+".info", body) }))
	}
	return errors.Join(errs...)
}

// Close hangs up.
func (d *Driver) Close() { d.hangUp() }

// body is the message with an id of its sending; in the envelope it is a text.
func (d *Driver) body(m pyjson.Object) []byte {
	m = append(m[:len(m):len(m)], pyjson.Member{Key: "_unique_id", Value: uuid.Hex()})
	if d.Options.Name == "messagingv2" {
		m = pyjson.Object{{Key: "oslo.version", Value: "2.0"}, {Key: "oslo.message", Value: pyjson.Encode(m)}}
	}
	return pyjson.Append(nil, m)
}

// again tries until it works, the tries are used up, or the server ends.
func (d *Driver) again(ctx context.Context, try func() error) error {
	wait := d.Interval
	for n := 0; ; n++ {
		err := try()
		if err == nil {
			return nil
		}
		d.hangUp()
		if d.Retry >= 0 && n >= d.Retry || ctx.Err() != nil {
			return err
		}
		d.log.WarnContext(ctx, fmt.Sprintf("Notifications wait for the message broker, which is tried again in %s", wait), slog.Any("error", err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(wait+d.Step, d.Max)
	}
}

func (d *Driver) publish(ctx context.Context, topic string, body []byte) error {
	if d.link == nil || d.link.conn.IsClosed() || d.link.channel.IsClosed() {
		d.hangUp()
		l, err := d.connect(ctx)
		if err != nil {
			return err
		}
		d.link = l
	}
	// A broker out of memory stops reading, and a write then waits for it.
	stop := context.AfterFunc(ctx, func() { _ = d.link.raw.Close() })
	defer stop()
	if !d.link.declared[topic] {
		if err := d.declare(topic); err != nil {
			return err
		}
		d.link.declared[topic] = true
	}
	sent, err := d.link.channel.PublishWithDeferredConfirmWithContext(ctx, d.Exchange, topic, false, false, amqp.Publishing{
		ContentType: "application/json", ContentEncoding: "utf-8", DeliveryMode: amqp.Persistent, Body: body,
	})
	if err != nil {
		return err
	}
	taken, err := sent.WaitContext(ctx)
	if err == nil && !taken {
		err = errors.New("the broker did not take the message")
	}
	return err
}

// declare makes exchange, queue and binding, where they are missing.
func (d *Driver) declare(topic string) error {
	c, durable := d.link.channel, d.Durable || d.Quorum
	if err := c.ExchangeDeclare(d.Exchange, "topic", durable, d.AutoDelete, false, false, nil); err != nil {
		return err
	}
	if _, err := c.QueueDeclare(topic, durable, d.AutoDelete, false, false, d.arguments()); err != nil {
		return err
	}
	return c.QueueBind(topic, topic, d.Exchange, false, nil)
}

func (d *Driver) arguments() amqp.Table {
	t := amqp.Table{}
	if d.HA {
		t["x-ha-policy"] = "all"
	}
	if d.Quorum {
		t["x-queue-type"] = "quorum"
		for name, n := range map[string]int{"x-delivery-limit": d.DeliveryLimit, "x-max-in-memory-length": d.MemoryLength, "x-max-in-memory-bytes": d.MemoryBytes} {
			if n != 0 {
				t[name] = n
			}
		}
	}
	return t
}

// dialLimit bounds a connection, with its handshakes.
const dialLimit = 10 * time.Second

// connect tries one host; the next call tries the one after it.
func (d *Driver) connect(ctx context.Context) (*link, error) {
	h := d.address.hosts[d.next%len(d.address.hosts)]
	d.next++
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	l, err := d.open(ctx, raw, h)
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("%s: %w", h.address, err)
	}
	return l, nil
}

func (d *Driver) open(ctx context.Context, raw net.Conn, h host) (*link, error) {
	stream := raw
	if d.tls != nil {
		c := d.tls.Clone()
		c.ServerName = h.name
		spoken := tls.Client(raw, c)
		if err := spoken.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		stream = spoken
	}
	conn, err := amqp.Open(stream, amqp.Config{
		SASL: d.login(h), Vhost: d.address.vhost, Heartbeat: d.Heartbeat, Locale: "en_US",
		Properties: amqp.Table{"connection_name": "keystone-go", "product": "keystone-go"},
	})
	if err != nil {
		return nil, err
	}
	channel, err := conn.Channel()
	if err == nil {
		err = channel.Confirm(false)
	}
	if err != nil {
		return nil, err
	}
	return &link{raw: raw, conn: conn, channel: channel, declared: map[string]bool{}}, nil
}

func (d *Driver) login(h host) []amqp.Authentication {
	switch strings.ToUpper(d.Login) {
	case "PLAIN":
		return []amqp.Authentication{&amqp.PlainAuth{Username: h.user, Password: h.password}}
	case "EXTERNAL":
		return []amqp.Authentication{&amqp.ExternalAuth{}}
	}
	return []amqp.Authentication{&amqp.AMQPlainAuth{Username: h.user, Password: h.password}}
}

// hangUp ends the connection; a broker that does not answer is not waited for.
func (d *Driver) hangUp() {
	if d.link == nil {
		return
	}
	_ = d.link.conn.CloseDeadline(time.Now().Add(time.Second))
	_ = d.link.raw.Close()
	d.link = nil
}
