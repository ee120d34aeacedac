package trace_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keystone-go/keystone-go/internal/trace"
)

// collector takes traces as a collector does.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
	statuses []int // to answer with, before 200
}

func collect(t *testing.T, statuses ...int) *collector {
	t.Helper()
	c := &collector{statuses: statuses}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests, c.bodies = append(c.requests, r), append(c.bodies, text)
		if len(c.statuses) > 0 {
			w.WriteHeader(c.statuses[0])
			c.statuses = c.statuses[1:]
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// message is a decoded message of protobuf: numbers and texts by field.
type message map[protowire.Number][]any

func read(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		field, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("no tag: %v", protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch wire {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			v, n = protowire.ConsumeFixed32(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", field, protowire.ParseError(n))
		}
		m[field], b = append(m[field], v), b[n:]
	}
	return m
}

func (m message) text(field protowire.Number) string {
	if len(m[field]) == 0 {
		return ""
	}
	return string(m[field][0].([]byte))
}

// attrs reads the KeyValues of a field.
func (m message) attrs(t *testing.T, field protowire.Number) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, raw := range m[field] {
		kv := read(t, raw.([]byte))
		value := read(t, kv[2][0].([]byte))
		switch {
		case len(value[1]) > 0:
			all[kv.text(1)] = value.text(1)
		case len(value[2]) > 0:
			all[kv.text(1)] = value[2][0] == uint64(1)
		default:
			all[kv.text(1)] = int64(value[3][0].(uint64))
		}
	}
	return all
}

// spans gives resource and spans of an export.
func spans(t *testing.T, body []byte) (resource map[string]any, all []message) {
	t.Helper()
	group := read(t, read(t, body)[1][0].([]byte))
	scoped := read(t, group[2][0].([]byte))
	for _, raw := range scoped[2] {
		all = append(all, read(t, raw.([]byte)))
	}
	return read(t, group[1][0].([]byte)).attrs(t, 1), all
}

func tracer(t *testing.T, url string, env map[string]string) *trace.Tracer {
	t.Helper()
	c, err := trace.Config{Enabled: true, Endpoint: url, Rate: 1, Version: "1.2"}.WithEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestSpansReachTheCollector(t *testing.T) {
	c := collect(t)
	tr := tracer(t, c.URL+"/", map[string]string{
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test,x=a%2Cb", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20eA==", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
	})
	start := time.Unix(1700000000, 5)
	ctx, span := tr.Serve(t.Context(), http.Header{"Traceparent": {parent}, "Tracestate": {"a=1", "b=2"}}, start)
	trace.Record(ctx, trace.Client, "db read", "", start.Add(1), start.Add(2), trace.Int("n", 7), trace.Bool("b", true))
	trace.Record(ctx, trace.Client, "db write", "no route", start.Add(3), start.Add(4))
	span.End("GET /v3", "Internal Server Error", start.Add(9), trace.String("http.route", "/v3"))
	trace.Record(ctx, trace.Client, "too late", "", start, start)
	_, alone := tr.Serve(t.Context(), http.Header{}, start)
	alone.End("GET", "", start.Add(1))
	tr.Close()
	if len(c.bodies) != 1 || c.requests[0].URL.Path != "/v1/traces" || c.requests[0].Header.Get("Content-Type") != "application/x-protobuf" ||
		c.requests[0].Header.Get("Authorization") != "Basic eA==" {
		t.Fatalf("%d exports: %v", len(c.bodies), c.requests)
	}
	resource, all := spans(t, c.bodies[0])
	if resource["service.name"] != "keystone" || resource["service.version"] != "1.2" || resource["x"] != "a,b" || resource["deployment.environment"] != "test" {
		t.Errorf("resource: %v", resource)
	}
	if len(all) != 4 {
		t.Fatalf("%d spans", len(all))
	}
	server, read1, write := all[0], all[1], all[2]
	for i, s := range all[:3] {
		if got := hex.EncodeToString(s[1][0].([]byte)); got != "0af7651916cd43dd8448eb211c80319c" || s.text(3) != "a=1,b=2" {
			t.Errorf("span %d: trace %s, state %q", i, got, s.text(3))
		}
	}
	if hex.EncodeToString([]byte(server.text(4))) != "b7ad6b7169203331" || server.text(5) != "GET /v3" || server[6][0] != uint64(2) ||
		server[7][0] != uint64(start.UnixNano()) || server[8][0] != uint64(start.Add(9).UnixNano()) || server[16][0] != uint32(0x301) {
		t.Errorf("server span: %v", server)
	}
	if server.attrs(t, 9)["http.route"] != "/v3" || read1.attrs(t, 9)["n"] != int64(7) || read1.attrs(t, 9)["b"] != true {
		t.Errorf("attributes: %v, %v", server.attrs(t, 9), read1.attrs(t, 9))
	}
	if read1.text(4) != server.text(2) || write.text(4) != server.text(2) || read1[6][0] != uint64(3) || read1[16][0] != uint32(0x101) {
		t.Errorf("children: %v, %v", read1, write)
	}
	if status := read(t, []byte(write.text(15))); status.text(2) != "no route" || status[3][0] != uint64(2) || len(read1[15]) != 0 {
		t.Errorf("status: %v, %v", status, read1[15])
	}
	if lone := all[3]; len(lone[4]) != 0 || lone.text(1) == server.text(1) || lone[16][0] != uint32(0x101) {
		t.Errorf("a trace of its own: %v", lone)
	}
	if sent, lost := tr.Stats(); sent != 4 || lost != 0 {
		t.Errorf("sent %d, lost %d", sent, lost)
	}
}

func TestWhoIsSampled(t *testing.T) {
	c := collect(t)
	unsampled := strings.TrimSuffix(parent, "1") + "0"
	for _, tt := range []struct {
		env    map[string]string
		parent string
		want   bool
	}{
		{nil, "", true},
		{nil, parent, true},
		{nil, unsampled, false},
		{map[string]string{"OTEL_TRACES_SAMPLER": "always_on"}, unsampled, true},
		{map[string]string{"OTEL_TRACES_SAMPLER": "always_off"}, parent, false},
		{map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_always_off"}, parent, true},
		{map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_always_off"}, "", false},
		{map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"}, parent, false},
		{map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"}, parent, false}, // by the id, 0x8448…
		{map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.52"}, parent, true},
		{nil, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more", true}, // no parent of version 00
		{nil, "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more", false},
		{nil, "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true},
		{nil, "00-00000000000000000000000000000000-b7ad6b7169203331-00", true},
		{nil, "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true},
	} {
		tr := tracer(t, c.URL, tt.env)
		h := http.Header{}
		if tt.parent != "" {
			h.Set("Traceparent", tt.parent)
		}
		ctx, span := tr.Serve(t.Context(), h, time.Now())
		if got := span != nil && trace.On(ctx); got != tt.want {
			t.Errorf("%v %q: sampled %v, want %v", tt.env, tt.parent, got, tt.want)
		}
	}
}

func TestSamplingRate(t *testing.T) {
	tr := tracer(t, "http://localhost:1", map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"})
	n := 0
	for range 4000 {
		if _, span := tr.Serve(t.Context(), http.Header{}, time.Now()); span != nil {
			n++
		}
	}
	if n < 800 || n > 1200 {
		t.Errorf("%d of 4000 at a rate of 0.25", n)
	}
}

func TestACollectorThatIsBusyOrAway(t *testing.T) {
	c := collect(t, 503, 200)
	tr := tracer(t, c.URL, map[string]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1"})
	_, span := tr.Serve(t.Context(), http.Header{}, time.Now())
	span.End("GET", "", time.Now())
	for range 100 {
		if sent, _ := tr.Stats(); sent == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if sent, lost := tr.Stats(); sent != 1 || lost != 0 || len(c.requests) != 2 {
		t.Errorf("a 503: sent %d, lost %d in %d attempts", sent, lost, len(c.requests))
	}
	for _, url := range []string{collect(t, 400).URL, "http://127.0.0.1:1"} {
		tr := tracer(t, url, nil)
		_, span := tr.Serve(t.Context(), http.Header{}, time.Now())
		span.End("GET", "", time.Now())
		tr.Close()
		if sent, lost := tr.Stats(); sent != 0 || lost != 1 {
			t.Errorf("%s: sent %d, lost %d", url, sent, lost)
		}
	}
}

// A collector that hangs holds up nobody, and what does not fit is counted.
func TestAQueueThatIsFull(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	tr := tracer(t, slow.URL, map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1"})
	start := time.Now()
	for range 100 {
		_, span := tr.Serve(t.Context(), http.Header{}, start)
		span.End("GET", "", start)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("100 requests took %v", took)
	}
	if _, lost := tr.Stats(); lost < 85 {
		t.Errorf("lost %d of 100 with a queue of 10", lost)
	}
	close(release)
}

func TestConfig(t *testing.T) {
	for _, env := range []map[string]string{
		{"OTEL_TRACES_EXPORTER": "zipkin"},
		{"OTEL_TRACES_SAMPLER_ARG": "2"},
		{"OTEL_EXPORTER_OTLP_HEADERS": "secret-without-a-name"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT": "0"},
		{"OTEL_BSP_SCHEDULE_DELAY": "x"},
		{"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "zstd"},
	} {
		_, err := trace.Config{}.WithEnv(func(name string) string { return env[name] })
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", env, err)
		}
	}
	for _, c := range []struct {
		config trace.Config
		env    map[string]string
	}{
		{trace.Config{Endpoint: "http://c", Protocol: "grpc"}, nil},
		{trace.Config{Endpoint: "collector:4318"}, nil},
		{trace.Config{Endpoint: "http://c"}, map[string]string{"OTEL_TRACES_SAMPLER": "jaeger_remote"}},
		{trace.Config{Endpoint: "https://c"}, map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nonexistent"}},
		{trace.Config{Endpoint: "http://c"}, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://c"}},
	} {
		c.config.Enabled = true
		cfg, err := c.config.WithEnv(func(name string) string { return c.env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trace.New(cfg, nil); err == nil {
			t.Errorf("%+v %v is taken", c.config, c.env)
		}
	}
	for _, env := range []map[string]string{{}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}} {
		cfg, err := trace.Config{}.WithEnv(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if tr, err := trace.New(cfg, nil); tr != nil || err != nil {
			t.Errorf("%v: %v, %v", env, tr, err)
		}
	}
}

// What is off costs nothing: no allocation, and the same context.
func TestOffCostsNothing(t *testing.T) {
	var off *trace.Tracer
	h := http.Header{"Traceparent": {parent}}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		next, span := off.Serve(ctx, h, time.Time{})
		if next != ctx || trace.On(next) {
			t.Fatal("something is recorded")
		}
		span.End("", "", time.Time{})
	}); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
	off.Close()
	if sent, lost := off.Stats(); sent+lost != 0 {
		t.Error("something was counted")
	}
}

func BenchmarkOff(b *testing.B) {
	var off *trace.Tracer
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_, span := off.Serve(ctx, nil, time.Time{})
		span.End("", "", time.Time{})
	}
}
