// Package notify tells others what the server has done: who created, changed
// and deleted what, and whose logins failed, in the words of Python Keystone's
// notifications (keystone/notifications.py). No request waits for it: what
// cannot be told in time is counted and dropped.
package notify

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
	"github.com/keystone-go/keystone-go/internal/uuid"
)

// Config says what is told, and to whom.
type Config struct {
	Basic     bool     // [DEFAULT] notification_format = basic
	OptOut    []string // [DEFAULT] notification_opt_out
	Publisher string   // identity.<[DEFAULT] default_publisher_id>
	// Queue bounds what may wait, for each driver.
	Queue   int
	Drivers []Driver
	// Directory looks up what events say of the cloud.
	Directory Directory
	Log       *slog.Logger
	Now       func() time.Time
}

// Driver takes messages away. Send is called by one goroutine, in the order of
// the events, and may wait until its context ends.
type Driver interface {
	Name() string
	Send(ctx context.Context, m Message) error
	Close()
}

// Directory is asked, outside of the request, for what an event needs beside
// what the request knew.
type Directory interface {
	// IdentityService gives the id of the first service of type identity; "" is
	// none.
	IdentityService(ctx context.Context) (string, error)
	// Domain finds one by its id or, where that is "", by its name.
	Domain(ctx context.Context, id, name string) (Domain, error)
}

// Domain is what an event about an unknown user says of his domain.
type Domain struct {
	ID, Name string
	Enabled  bool // false too where there is none
}

// Message is one notification.
type Message struct {
	Type string // identity.user.created
	Body pyjson.Object
	// ctx carries the request, for the log.
	ctx context.Context
}

// Stats counts events by what became of them.
type Stats struct {
	Sent, Failed, Dropped map[string]uint64 // by driver
	Waiting               int
}

// Notifier tells of events. A nil one tells nobody.
type Notifier struct {
	cfg    Config
	intake chan event
	queues []*queue
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	lost   atomic.Uint64 // events dropped before any driver had them

	mu     sync.RWMutex
	closed bool
}

// queue is what waits for one driver.
type queue struct {
	Driver
	messages              chan Message
	sent, failed, dropped atomic.Uint64
}

// closeLimit is how long what waits at the end may take.
const closeLimit = 5 * time.Second

// New starts a notifier: one goroutine that completes events, and one a
// driver. Without drivers it is nil, and nothing is done.
func New(cfg Config) *Notifier {
	if len(cfg.Drivers) == 0 {
		return nil
	}
	n := &Notifier{cfg: cfg, intake: make(chan event, cfg.Queue)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	for _, d := range cfg.Drivers {
		q := &queue{Driver: d, messages: make(chan Message, cfg.Queue)}
		n.queues = append(n.queues, q)
		n.done.Go(func() { n.send(q) })
	}
	n.done.Go(n.complete)
	return n
}

// Close ends the notifier: what waits is sent for some seconds more, the rest
// is dropped.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return
	}
	n.closed = true
	close(n.intake)
	n.mu.Unlock()
	late := time.AfterFunc(closeLimit, n.cancel)
	n.done.Wait()
	late.Stop()
	n.cancel()
	for _, q := range n.queues {
		q.Close()
	}
	if s := n.Stats(); n.cfg.Log != nil {
		for _, q := range n.queues {
			if d := s.Dropped[q.Name()]; d > 0 {
				n.cfg.Log.Warn("notifications were dropped", slog.String("driver", q.Name()), slog.Uint64("count", d))
			}
		}
	}
}

// Stats tells what became of the events so far.
func (n *Notifier) Stats() Stats {
	s := Stats{Sent: map[string]uint64{}, Failed: map[string]uint64{}, Dropped: map[string]uint64{}}
	if n == nil {
		return s
	}
	s.Waiting = len(n.intake)
	for _, q := range n.queues {
		s.Sent[q.Name()] += q.sent.Load()
		s.Failed[q.Name()] += q.failed.Load()
		s.Dropped[q.Name()] += q.dropped.Load() + n.lost.Load()
		s.Waiting += len(q.messages)
	}
	return s
}

// On tells whether anybody is told of events.
func (n *Notifier) On() bool { return n != nil }

// optedOut tells whether an operator wants no events of a type; of logins the
// outcome belongs to it.
func (n *Notifier) optedOut(kind, outcome string) bool {
	if strings.Contains(kind, "authenticate") {
		kind += "." + outcome
	}
	return slices.Contains(n.cfg.OptOut, kind)
}

// put takes an event of a request, and never waits.
func (n *Notifier) put(ctx context.Context, e event) {
	r := *olog.FromContext(ctx) // the request goes on to change its own
	e.ctx = olog.WithRequest(context.Background(), &r)
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.closed {
		n.lost.Add(1)
		return
	}
	select {
	case n.intake <- e:
	default:
		n.lost.Add(1)
	}
}

// complete adds what has to be looked up, and hands events to the drivers.
func (n *Notifier) complete() {
	defer func() {
		for _, q := range n.queues {
			close(q.messages)
		}
	}()
	for e := range n.intake {
		if !n.lookUp(&e) {
			continue
		}
		m := n.message(e)
		for _, q := range n.queues {
			select {
			case q.messages <- m:
			default:
				q.dropped.Add(1)
			}
		}
	}
}

// send gives a driver one message after the other.
func (n *Notifier) send(q *queue) {
	for m := range q.messages {
		if n.ctx.Err() != nil {
			q.dropped.Add(1)
			continue
		}
		switch err := q.Send(n.ctx, m); {
		case err == nil:
			q.sent.Add(1)
		case n.ctx.Err() != nil:
			q.dropped.Add(1)
		default:
			q.failed.Add(1)
			n.cfg.Log.ErrorContext(m.ctx, "Could not send notification", slog.String("driver", q.Name()), slog.String("event_type", m.Type), slog.Any("error", err))
		}
	}
}

// message is oslo.messaging's, before any transport's.
func (n *Notifier) message(e event) Message {
	return Message{Type: e.kind, ctx: e.ctx, Body: pyjson.Object{
		{Key: "message_id", Value: uuid.Text()},
		{Key: "publisher_id", Value: n.cfg.Publisher},
		{Key: "event_type", Value: e.kind},
		{Key: "priority", Value: "INFO"},
		{Key: "payload", Value: e.payload},
		{Key: "timestamp", Value: e.at.UTC().Format("2006-01-02 15:04:05.000000")},
	}}
}
