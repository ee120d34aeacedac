package wire

import (
	"context"
	"os"
	"time"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/trace"
)

// traces sends what requests do to a collector, where [oslo_middleware_tracing]
// or OpenTelemetry's variables ask for it.
func (b *builder) traces(context.Context) error {
	c, err := traceConfig(b.cfg).WithEnv(os.Getenv)
	if err == nil {
		b.app.Tracer, err = held(b, "traces", c, func() (*trace.Tracer, error) { return trace.New(c, b.Log) }, (*trace.Tracer).Close)
	}
	if err != nil {
		// A server that cannot tell what it does still does it.
		b.app.Warnings = append(b.app.Warnings, "No traces are sent: "+err.Error())
	}
	return nil
}

func traceConfig(cfg *conf.Config) trace.Config {
	c := cfg.OsloMiddlewareTracing
	version, _ := Version()
	return trace.Config{
		Enabled: c.Enabled, Endpoint: c.OTLPEndpoint, Protocol: c.OTLPProtocol, Service: c.ServiceName,
		Rate: c.SamplingRate, Insecure: c.Insecure, Version: version,
	}
}

var systems = map[db.Dialect]string{db.Postgres: "postgresql", db.SQLite: "sqlite", db.MariaDB: "mariadb"}

// traced notes a round trip to the database in the trace of its request.
func (b *builder) traced(e db.Event) {
	if !trace.On(e.Context) {
		return
	}
	name, failed := "db read", ""
	if e.Writes > 0 {
		name = "db write"
	}
	if e.Err != nil {
		failed = e.Err.Error()
	}
	end := time.Now()
	trace.Record(e.Context, trace.Client, name, failed, end.Add(-e.Duration), end,
		trace.String("db.system.name", systems[b.engine]), trace.Int("db.operation.batch.size", len(e.Texts)), trace.Int("keystone.db.writes", e.Writes))
}

// traces counts spans.
func (f *face) traces() (sent, lost uint64) {
	a := f.app.Load()
	if a == nil {
		return 0, 0
	}
	return a.Tracer.Stats()
}
