package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Tracer samples requests and sends what they did. A nil Tracer does nothing.
type Tracer struct {
	config   Config
	url      string
	client   *http.Client
	log      *slog.Logger
	parents  bool   // a caller's decision holds
	bound    uint64 // trace ids below it are sampled
	resource []byte

	queue         chan *Span
	sent, dropped atomic.Uint64
	told          time.Time
	ending        chan struct{}
	once          sync.Once
	ended         chan struct{}
}

// New makes a tracer and begins to send; nil where nothing is to be traced.
func New(c Config, log *slog.Logger) (*Tracer, error) {
	if !c.Enabled {
		return nil, nil
	}
	if c.Protocol != "" && c.Protocol != "http/protobuf" {
		return nil, fmt.Errorf("traces are sent as http/protobuf alone, not as %s", c.Protocol)
	}
	if c.Service == "" {
		c.Service = "keystone"
	}
	t := &Tracer{config: c, log: log, queue: make(chan *Span, c.queue), ending: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if t.url, err = c.url(); err != nil {
		return nil, err
	}
	secure, err := c.tls()
	if err != nil {
		return nil, err
	}
	if err := t.setSampler(); err != nil {
		return nil, err
	}
	t.client = &http.Client{
		Timeout:   c.timeout,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second},
	}
	t.resource = t.makeResource()
	go t.run()
	return t, nil
}

// setSampler takes OTEL_TRACES_SAMPLER; without it the caller's decision
// holds, and Rate for traces that begin here.
func (t *Tracer) setSampler() error {
	rate := t.config.Rate
	switch t.config.sampler {
	case "", "parentbased_traceidratio":
		t.parents = true
	case "traceidratio":
	case "always_on":
		rate = 1
	case "always_off":
		rate = 0
	case "parentbased_always_on":
		t.parents, rate = true, 1
	case "parentbased_always_off":
		t.parents, rate = true, 0
	default:
		return fmt.Errorf("OTEL_TRACES_SAMPLER=%s is not known", t.config.sampler)
	}
	t.bound = math.MaxUint64
	if rate < 1 {
		t.bound = uint64(rate * (1 << 63) * 2)
	}
	return nil
}

// sample decides by the trace's id, so that every service decides alike.
func (t *Tracer) sample(id [16]byte, fromCaller, sampled bool) bool {
	if fromCaller && t.parents {
		return sampled
	}
	return t.bound == math.MaxUint64 || binary.BigEndian.Uint64(id[8:]) < t.bound
}

// take queues a finished request. A full queue loses it: a collector that is
// away must not hold requests up.
func (t *Tracer) take(s *Span) {
	select {
	case t.queue <- s:
	default:
		t.dropped.Add(uint64(1 + len(s.children)))
	}
}

// Stats counts spans that the collector has taken, and that were lost.
func (t *Tracer) Stats() (sent, dropped uint64) {
	if t == nil {
		return 0, 0
	}
	return t.sent.Load(), t.dropped.Load()
}

// Close sends what is queued, within the time of one export, and ends.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() { close(t.ending) })
	<-t.ended
}

// run collects and sends until Close.
func (t *Tracer) run() {
	defer close(t.ended)
	tick := time.NewTicker(t.config.delay)
	defer tick.Stop()
	var spans []*Span
	add := func(s *Span) {
		if spans = append(append(spans, s), s.children...); len(spans) >= t.config.batch {
			t.send(spans)
			spans = nil
		}
	}
	for {
		select {
		case s := <-t.queue:
			add(s)
		case <-tick.C:
			t.send(spans)
			spans = nil
		case <-t.ending:
			for {
				select {
				case s := <-t.queue:
					add(s)
				default:
					t.send(spans)
					return
				}
			}
		}
	}
}

// send exports spans, again a few times where the collector asks for that.
func (t *Tracer) send(spans []*Span) {
	if len(spans) == 0 {
		return
	}
	body := t.encode(spans)
	if t.config.gzip {
		body = compress(body)
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.config.timeout)
	defer cancel()
	var err error
	for try := range 4 {
		var wait time.Duration
		if wait, err = t.post(ctx, body); err == nil {
			t.sent.Add(uint64(len(spans)))
			return
		}
		if wait < 0 || try == 3 || !t.rest(ctx, max(wait, time.Second<<try)) {
			break
		}
	}
	t.dropped.Add(uint64(len(spans)))
	if time.Since(t.told) > time.Minute {
		t.told = time.Now()
		t.log.Warn("Traces are lost: the collector does not take them", "spans", len(spans), "error", err)
	}
}

// rest waits, unless the time is over or the tracer ends.
func (t *Tracer) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-t.ending:
		return false
	}
}

// post makes one attempt. A negative wait means that another has no use.
func (t *Tracer) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "keystone-go/"+t.config.Version)
	if t.config.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for k, v := range t.config.headers {
		r.Header.Set(k, v)
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return 0, nil
	case code == 429 || code == 502 || code == 503 || code == 504:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, errors.New(answer.Status)
	}
	return -1, errors.New(answer.Status)
}

// withoutURL drops the URL from an error: it may hold a password.
func withoutURL(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
